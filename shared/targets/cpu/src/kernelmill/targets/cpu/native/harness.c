/* Loads one kernel and calls it as the parent says. Started inside the sandbox, in a fresh process.
 *
 * harness LIBRARY ENTRY SOCKET CONTROL FILTER: descriptors by number, FILTER is -1 where there is no libseccomp.
 * Replies on the socket: "r" ready, "l" + text not loadable, "x" floating point state changed, "d" done.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "protocol.h"

#define HANDLER_STACK 65536
#define MEMORY_PROBE (64UL << 20)
#define PAGE 4096
#define SYS_MSEAL 462 /* the same on every architecture; newer than the headers of supported distributions */

typedef uint64_t word;

static struct control *control;
static int channel;
static const char *inputs;
static char *outputs;
static size_t input_bytes;
static const word *guards;

struct float_state { uint32_t vector, legacy; };

static inline struct float_state float_state(void) {
    struct float_state now = {0, 0};
#if defined(__x86_64__)
    uint16_t word16;
    __asm__ volatile("stmxcsr %0" : "=m"(now.vector));
    __asm__ volatile("fnstcw %0" : "=m"(word16));
    now.vector &= ~0x3fU; /* exception flags come and go with ordinary arithmetic */
    now.legacy = word16;
#elif defined(__aarch64__)
    uint64_t fpcr;
    __asm__ volatile("mrs %0, fpcr" : "=r"(fpcr));
    now.vector = (uint32_t)fpcr;
#endif
    return now;
}

static void say(char letter, const char *text) {
    char message[512];
    message[0] = letter;
    size_t length = strnlen(text, sizeof message - 1);
    memcpy(message + 1, text, length);
    if (write(channel, message, length + 1) < 0) _exit(3);
}

static void state_changed(struct float_state was, struct float_state is) {
    control->report = REPORT_STATE;
    control->detail = ((word)was.vector << 32) | is.vector;
    control->address = ((word)was.legacy << 32) | is.legacy;
    say('x', "");
    _exit(4);
}

static inline void expect_state(struct float_state was) {
    struct float_state is = float_state();
    if (__builtin_expect(was.vector != is.vector || was.legacy != is.legacy, 0)) state_changed(was, is);
}

/* Calls `visit` for every guard page until it says stop; returns whether it did. */
static int each_guard(int (*visit)(char *page, const char *context), const char *context) {
    const word *list = guards;
    char *base = (char *)(word)inputs;
    for (int memory = 0; list && memory < 2; memory++, base = outputs)
        for (word left = *list++; left; left--, list++)
            if (visit(base + *list, context)) return 1;
    return 0;
}

static int close_guard(char *page, const char *unused) {
    (void)unused;
    return mprotect(page, PAGE, PROT_NONE) < 0;
}

static int lies_in(char *page, const char *where) { return where >= page && where < page + PAGE; }

static void on_fault(int number, siginfo_t *facts, void *context) {
    (void)context;
    const char *where = facts->si_addr;
    control->detail = (word)number;
    control->address = (word)where;
    control->report = REPORT_SIGNAL;
    if (number == SIGSYS) {
        control->address = (word)facts->si_syscall;
        if (facts->si_syscall == SYS_mmap || facts->si_syscall == SYS_mremap) control->report = REPORT_MEMORY;
    } else if (each_guard(lies_in, where)) {
        control->report = REPORT_GUARD;
    } else if (inputs && where >= inputs && where < inputs + input_bytes) {
        control->report = REPORT_INPUT;
    } else if (mmap(NULL, MEMORY_PROBE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) == MAP_FAILED) {
        control->report = REPORT_MEMORY; /* an allocation just failed and its null pointer was used */
    }
    _exit(128 + number);
}

static void watch_faults(void) {
    stack_t stack = {.ss_sp = malloc(HANDLER_STACK), .ss_size = HANDLER_STACK};
    sigaltstack(&stack, NULL);
    struct sigaction action = {.sa_sigaction = on_fault, .sa_flags = SA_SIGINFO | SA_ONSTACK};
    static const int fatal[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGSYS};
    for (size_t i = 0; i < sizeof fatal / sizeof *fatal; i++) sigaction(fatal[i], &action, NULL);
}

/* Nobody maps something else over the harness's code; kernels older than 6.10 know no way to say so. */
static void seal_code(void) {
    extern const char __executable_start, etext;
    word start = (word)&__executable_start & ~(word)(PAGE - 1), end = ((word)&etext + PAGE - 1) & ~(word)(PAGE - 1);
    syscall(SYS_MSEAL, start, end - start, 0);
}

static void install_filter(int fd) {
    static struct sock_filter code[4096];
    ssize_t size = read(fd, code, sizeof code);
    close(fd);
    struct sock_fprog program = {.len = (unsigned short)(size / (ssize_t)sizeof *code), .filter = code};
    if (size <= 0 || syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program) < 0) {
        say('l', "the system call filter could not be installed");
        _exit(3);
    }
}

#define P1 word
#define P2 P1, word
#define P3 P2, word
#define P4 P3, word
#define P5 P4, word
#define P6 P5, word
#define P7 P6, word
#define P8 P7, word
#define P9 P8, word
#define P10 P9, word
#define P11 P10, word
#define P12 P11, word
#define P13 P12, word
#define P14 P13, word
#define P15 P14, word
#define P16 P15, word
#define A1 a[0]
#define A2 A1, a[1]
#define A3 A2, a[2]
#define A4 A3, a[3]
#define A5 A4, a[4]
#define A6 A5, a[5]
#define A7 A6, a[6]
#define A8 A7, a[7]
#define A9 A8, a[8]
#define A10 A9, a[9]
#define A11 A10, a[10]
#define A12 A11, a[11]
#define A13 A12, a[12]
#define A14 A13, a[13]
#define A15 A14, a[14]
#define A16 A15, a[15]
#define CASE(n) case n: ((void (*)(P##n))kernel)(A##n); break;

/* Pointers and int64 go the same way in every ABI that is supported, so words will do for both. */
static inline void invoke(void *kernel, const word *a, word count) {
    switch (count) {
        CASE(1) CASE(2) CASE(3) CASE(4) CASE(5) CASE(6) CASE(7) CASE(8)
        CASE(9) CASE(10) CASE(11) CASE(12) CASE(13) CASE(14) CASE(15) CASE(16)
    }
}

static int receive(struct setup *setup, int descriptors[2]) {
    union { struct cmsghdr header; char space[CMSG_SPACE(2 * sizeof(int))]; } ancillary;
    struct iovec part = {setup, sizeof *setup};
    struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1, .msg_control = &ancillary,
                             .msg_controllen = sizeof ancillary};
    if (recvmsg(channel, &message, 0) != (ssize_t)sizeof *setup) return 0;
    struct cmsghdr *header = CMSG_FIRSTHDR(&message);
    if (!header || header->cmsg_len != CMSG_LEN(2 * sizeof(int))) return 0;
    memcpy(descriptors, CMSG_DATA(header), 2 * sizeof(int));
    return setup->arguments >= 1 && setup->arguments <= MAX_ARGUMENTS;
}

static void resolve(const struct setup *setup, word *resolved) {
    const word *kinds = (const word *)(const void *)(inputs + setup->table), *values = kinds + setup->arguments;
    for (word i = 0; i < setup->calls * setup->arguments; i++) {
        word kind = kinds[i % setup->arguments], base = 0;
        if (kind == ARGUMENT_INPUT) base = (word)inputs;
        if (kind == ARGUMENT_OUTPUT) base = (word)outputs;
        resolved[i] = base + values[i];
    }
}

/* Stores past the cache are no part of x86's order: without this the parent could see `done` before the outputs. */
static inline void finish_stores(void) {
#if defined(__x86_64__)
    __builtin_ia32_sfence();
#endif
}

static void spin(void *kernel, const struct setup *setup, const word *resolved, struct float_state expected) {
    word last = 0, command;
    for (;;) {
        while ((command = atomic_load_explicit(&control->command, memory_order_acquire)) == last) {
#if defined(__x86_64__)
            __builtin_ia32_pause();
#endif
        }
        last = command;
        word end = control->first + control->count;
        for (word call = control->first; call < end; call++) {
            invoke(kernel, resolved + (call % setup->calls) * setup->arguments, setup->arguments);
            expect_state(expected);
        }
        finish_stores();
        atomic_store_explicit(&control->done, command, memory_order_release);
    }
}

int main(int argc, char **argv) {
    if (argc != 6) return 2;
    channel = atoi(argv[3]);
    int control_fd = atoi(argv[4]), filter_fd = atoi(argv[5]);
    control = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, control_fd, 0);
    if (control == MAP_FAILED) return 2;
    close(control_fd);
    watch_faults();
    seal_code();
    if (filter_fd >= 0) install_filter(filter_fd);

    struct float_state expected = float_state();
    void *library = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
    if (!library) { say('l', dlerror()); return 3; }
    void *kernel = dlsym(library, argv[2]);
    if (!kernel) { say('l', dlerror()); return 3; }
    expect_state(expected);
    say('r', "");

    struct setup setup;
    int descriptors[2];
    while (receive(&setup, descriptors)) {
        input_bytes = setup.input_bytes;
        inputs = mmap(NULL, input_bytes, PROT_READ, MAP_SHARED | MAP_POPULATE, descriptors[0], 0);
        outputs = mmap(NULL, setup.output_bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, descriptors[1], 0);
        close(descriptors[0]);
        close(descriptors[1]);
        word *resolved = malloc(setup.calls * setup.arguments * sizeof *resolved);
        if (inputs == MAP_FAILED || outputs == MAP_FAILED || !resolved) { say('l', "buffers could not be mapped"); return 3; }
        resolve(&setup, resolved);
        guards = setup.guards ? (const word *)(const void *)(inputs + setup.guards) : NULL;
        if (each_guard(close_guard, NULL)) { say('l', "guard pages could not be closed"); return 3; }
        if (setup.mode == 's') {
            say('r', "");
            spin(kernel, &setup, resolved, expected);
        }
        invoke(kernel, resolved, setup.arguments);
        expect_state(expected);
        say('d', "");
        free(resolved);
        munmap(outputs, setup.output_bytes);
        munmap((void *)(word)inputs, input_bytes);
        inputs = NULL;
        guards = NULL;
    }
    return 0;
}
