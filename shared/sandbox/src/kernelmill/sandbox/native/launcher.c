/* Starts one hostile program inside every isolation layer that this machine offers, waits for it, and cleans up.
 *
 * The outer process (trusted) stays outside, watches a pipe whose other end the caller holds, and kills everything
 * when the caller dies, asks for it, or the wall limit passes. The inner process locks itself down and execs.
 * Lines on the status descriptor: "pid N", "layers a,b,c", "error STAGE ERRNO", "timeout", "exit KIND N CPU_US RSS_KIB".
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/capability.h>
#include <linux/filter.h>
#include <linux/landlock.h>
#include <linux/sched.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define MAX_PATHS 64
#define MAX_LIMITS 16
#define MAX_KEEP 16
#define CLEANUP_ATTEMPTS 2000
#define CLEANUP_PAUSE_NS 500000L

/* Newer than the headers of the oldest supported distribution. */
#define FS_REFER (1ULL << 13)
#define FS_TRUNCATE (1ULL << 14)
#define FS_IOCTL_DEV (1ULL << 15)
#define NET_BIND (1ULL << 0)
#define NET_CONNECT (1ULL << 1)
#define SCOPE_ABSTRACT_UNIX (1ULL << 0)
#define SCOPE_SIGNAL (1ULL << 1)

struct ruleset_v7 {
    uint64_t handled_access_fs, handled_access_net, scoped;
};

static struct {
    int status, alive;
    const char *cgroup, *freezer, *work, *seccomp;
    const char *readable[MAX_PATHS], *writable[MAX_PATHS], *hidden[MAX_PATHS];
    int readables, writables, hiddens;
    struct { int resource; rlim_t value; } limits[MAX_LIMITS];
    int limit_count;
    int keep[MAX_KEEP];
    int keeps;
    cpu_set_t cpus;
    int pin;
    long uid;
    int user_namespace, namespaces, landlock;
    double wall;
    char **program;
} options = {.status = -1, .alive = -1, .uid = -1};

static void report(const char *line) {
    ssize_t written = write(options.status, line, strlen(line));
    (void)written; /* the caller may be gone; nobody is left to tell */
}

static void die(const char *stage) {
    char line[128];
    snprintf(line, sizeof line, "error %s %d\n", stage, errno);
    report(line);
    _exit(125);
}

static int write_text(const char *path, const char *text) {
    int fd = open(path, O_WRONLY | O_CLOEXEC);
    if (fd < 0) return -1;
    ssize_t n = write(fd, text, strlen(text));
    close(fd);
    return n == (ssize_t)strlen(text) ? 0 : -1;
}

static int write_in(const char *folder, const char *file, const char *text) {
    char path[4096];
    snprintf(path, sizeof path, "%s/%s", folder, file);
    return write_text(path, text);
}

static int resource_of(const char *name) {
    static const struct { const char *name; int resource; } known[] = {
        {"as", RLIMIT_AS},       {"cpu", RLIMIT_CPU},     {"fsize", RLIMIT_FSIZE}, {"nofile", RLIMIT_NOFILE},
        {"nproc", RLIMIT_NPROC}, {"core", RLIMIT_CORE},   {"stack", RLIMIT_STACK}, {"memlock", RLIMIT_MEMLOCK},
    };
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (!strcmp(known[i].name, name)) return known[i].resource;
    fprintf(stderr, "launcher: unknown limit %s\n", name);
    exit(2);
}

static const char **slot(const char **list, int *count) {
    if (*count == MAX_PATHS) {
        fprintf(stderr, "launcher: more than %d paths\n", MAX_PATHS);
        exit(2);
    }
    return &list[(*count)++];
}

static void parse(int argc, char **argv) {
    CPU_ZERO(&options.cpus);
    int i = 1;
    for (; i < argc && strcmp(argv[i], "--"); i++) {
        const char *name = argv[i];
        if (!strcmp(name, "--userns")) { options.user_namespace = 1; continue; }
        if (!strcmp(name, "--namespaces")) { options.namespaces = 1; continue; }
        if (!strcmp(name, "--landlock")) { options.landlock = 1; continue; }
        const char *value = i + 1 < argc ? argv[++i] : "";
        if (!strcmp(name, "--status")) options.status = atoi(value);
        else if (!strcmp(name, "--alive")) options.alive = atoi(value);
        else if (!strcmp(name, "--cgroup")) options.cgroup = value;
        else if (!strcmp(name, "--freezer")) options.freezer = value;
        else if (!strcmp(name, "--work")) options.work = value;
        else if (!strcmp(name, "--seccomp")) options.seccomp = value;
        else if (!strcmp(name, "--uid")) options.uid = atol(value);
        else if (!strcmp(name, "--wall")) options.wall = atof(value);
        else if (!strcmp(name, "--read")) *slot(options.readable, &options.readables) = value;
        else if (!strcmp(name, "--write")) *slot(options.writable, &options.writables) = value;
        else if (!strcmp(name, "--hide")) *slot(options.hidden, &options.hiddens) = value;
        else if (!strcmp(name, "--cpu")) { CPU_SET(atoi(value), &options.cpus); options.pin = 1; }
        else if (!strcmp(name, "--keep") && options.keeps < MAX_KEEP) options.keep[options.keeps++] = atoi(value);
        else if (!strcmp(name, "--limit") && options.limit_count < MAX_LIMITS) {
            char kind[16];
            unsigned long long amount;
            if (sscanf(value, "%15[a-z]=%llu", kind, &amount) != 2) { fprintf(stderr, "launcher: bad limit\n"); exit(2); }
            options.limits[options.limit_count].resource = resource_of(kind);
            options.limits[options.limit_count++].value = amount;
        } else { fprintf(stderr, "launcher: unknown option %s\n", name); exit(2); }
    }
    options.program = argv + i + 1;
    if (i + 1 >= argc || options.status < 0 || options.alive < 0) {
        fprintf(stderr, "launcher: --status, --alive and a program are needed\n");
        exit(2);
    }
}

static void map_user(void) {
    char line[64];
    write_text("/proc/self/setgroups", "deny");
    snprintf(line, sizeof line, "%ld %ld 1", options.uid, options.uid);
    if (write_text("/proc/self/uid_map", line) < 0) die("uid_map");
}

static void hide_paths(void) {
    if (mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0) die("mount-private");
    for (int i = 0; i < options.hiddens; i++)
        if (mount("none", options.hidden[i], "tmpfs", MS_NOSUID | MS_NODEV | MS_NOEXEC, "size=4k,mode=0555") < 0)
            die("hide");
}

static int lock_files(void) {
    int abi = (int)syscall(SYS_landlock_create_ruleset, NULL, 0, LANDLOCK_CREATE_RULESET_VERSION);
    if (abi < 1) return 0;
    uint64_t all = (1ULL << 13) - 1;
    if (abi >= 2) all |= FS_REFER;
    if (abi >= 3) all |= FS_TRUNCATE;
    if (abi >= 5) all |= FS_IOCTL_DEV;
    struct ruleset_v7 rules = {.handled_access_fs = all};
    size_t size = sizeof(uint64_t);
    if (abi >= 4) { rules.handled_access_net = NET_BIND | NET_CONNECT; size = 2 * sizeof(uint64_t); }
    if (abi >= 6) { rules.scoped = SCOPE_ABSTRACT_UNIX | SCOPE_SIGNAL; size = 3 * sizeof(uint64_t); }
    int ruleset = (int)syscall(SYS_landlock_create_ruleset, &rules, size, 0);
    if (ruleset < 0) return 0;
    const uint64_t file_only = LANDLOCK_ACCESS_FS_EXECUTE | LANDLOCK_ACCESS_FS_WRITE_FILE | LANDLOCK_ACCESS_FS_READ_FILE
                               | FS_TRUNCATE | FS_IOCTL_DEV;
    for (int writing = 0; writing < 2; writing++) {
        const char **paths = writing ? options.writable : options.readable;
        int count = writing ? options.writables : options.readables;
        for (int i = 0; i < count; i++) {
            struct stat facts;
            int fd = open(paths[i], O_PATH | O_CLOEXEC);
            if (fd < 0 || fstat(fd, &facts) < 0) die("landlock-path");
            uint64_t access = LANDLOCK_ACCESS_FS_EXECUTE | LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_READ_DIR;
            if (writing) access = all & ~(FS_IOCTL_DEV | LANDLOCK_ACCESS_FS_MAKE_CHAR | LANDLOCK_ACCESS_FS_MAKE_BLOCK);
            if (!S_ISDIR(facts.st_mode)) access &= file_only;
            struct landlock_path_beneath_attr rule = {.allowed_access = access & all, .parent_fd = fd};
            if (syscall(SYS_landlock_add_rule, ruleset, LANDLOCK_RULE_PATH_BENEATH, &rule, 0) < 0) die("landlock-rule");
            close(fd);
        }
    }
    if (syscall(SYS_landlock_restrict_self, ruleset, 0) < 0) die("landlock-restrict");
    close(ruleset);
    return 1;
}

static void install_filter(int fd) {
    static struct sock_filter code[4096];
    ssize_t size = read(fd, code, sizeof code);
    if (size <= 0 || size % sizeof *code) die("seccomp-read");
    struct sock_fprog program = {.len = (unsigned short)(size / sizeof *code), .filter = code};
    close(fd);
    if (syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program) < 0) die("seccomp");
}

static void keep_only_named(void) {
    for (int i = 0; i < options.keeps; i++) {
        int flags = fcntl(options.keep[i], F_GETFD);
        if (flags < 0 || fcntl(options.keep[i], F_SETFD, flags & ~FD_CLOEXEC) < 0) die("keep");
    }
}

/* Root without capabilities is the owner of root's files and nothing more; no_new_privs keeps exec from refilling. */
static void drop_capabilities(void) {
    struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
    struct __user_cap_data_struct none[2] = {{0}, {0}};
    if (syscall(SYS_capset, &header, none) < 0) die("capset");
}

static void become_hostile(int go) {
    char layers[128] = "layers rlimits", byte;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (options.user_namespace) map_user();
    if (read(go, &byte, 1) != 1) _exit(125); /* the outer process is gone */
    if (options.namespaces) {
        hide_paths();
        strcat(layers, ",namespaces");
    }
    int filter = -1;
    if (options.seccomp && (filter = open(options.seccomp, O_RDONLY | O_CLOEXEC)) < 0) die("seccomp-open");
    for (int i = 0; i < options.limit_count; i++) {
        struct rlimit limit = {options.limits[i].value, options.limits[i].value};
        struct rlimit now;
        if (getrlimit(options.limits[i].resource, &now) == 0 && now.rlim_max < limit.rlim_max)
            limit.rlim_cur = limit.rlim_max = now.rlim_max;
        if (setrlimit(options.limits[i].resource, &limit) < 0) die("rlimit");
    }
    if (options.pin && sched_setaffinity(0, sizeof options.cpus, &options.cpus) < 0) die("affinity");
    if (options.work && chdir(options.work) < 0) die("chdir");
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0) die("no-new-privs");
    keep_only_named();
    /* Everything else closes at exec; marking instead of closing keeps the status descriptor usable until then. */
    unsigned first = 3;
    for (;;) {
        unsigned next = ~0U;
        for (int i = 0; i < options.keeps; i++)
            if ((unsigned)options.keep[i] >= first && (unsigned)options.keep[i] < next) next = (unsigned)options.keep[i];
        unsigned last = next == ~0U ? ~0U : next - 1;
        if (first <= last && syscall(SYS_close_range, first, last, 4 /* CLOSE_RANGE_CLOEXEC */) < 0) die("close-range");
        if (next == ~0U) break;
        first = next + 1;
    }
    if (options.landlock && lock_files()) strcat(layers, ",landlock");
    if (options.uid >= 0 && !options.user_namespace) {
        if (setgroups(0, NULL) < 0) die("setgroups");
        if (setresgid((gid_t)options.uid, (gid_t)options.uid, (gid_t)options.uid) < 0) die("setresgid");
        if (setresuid((uid_t)options.uid, (uid_t)options.uid, (uid_t)options.uid) < 0) die("setresuid");
        strcat(layers, ",uid");
    }
    if (geteuid() == 0) drop_capabilities();
    prctl(PR_SET_PDEATHSIG, SIGKILL); /* a change of credentials clears it */
    umask(022);
    if (filter >= 0) strcat(layers, ",seccomp");
    strcat(layers, "\n");
    report(layers);
    if (filter >= 0) install_filter(filter);
    execv(options.program[0], options.program);
    die("exec");
}

static pid_t start(int *pidfd, int go) {
    int folder = options.cgroup ? open(options.cgroup, O_PATH | O_DIRECTORY | O_CLOEXEC) : -1;
    if (options.cgroup && folder < 0) die("cgroup-open");
    struct clone_args arguments = {.flags = CLONE_PIDFD, .pidfd = (uint64_t)(uintptr_t)pidfd, .exit_signal = SIGCHLD};
    if (options.user_namespace) arguments.flags |= CLONE_NEWUSER;
    if (options.namespaces)
        arguments.flags |= CLONE_NEWNS | CLONE_NEWNET | CLONE_NEWIPC | CLONE_NEWUTS | CLONE_NEWPID;
    if (folder >= 0) {
        arguments.flags |= CLONE_INTO_CGROUP; /* joining later would wait for an RCU grace period */
        arguments.cgroup = (uint64_t)folder;
    }
    pid_t pid = (pid_t)syscall(SYS_clone3, &arguments, sizeof arguments);
    if (pid < 0) die("clone");
    if (pid == 0) become_hostile(go);
    if (folder >= 0) close(folder);
    return pid;
}

static void remove_folder(const char *folder) {
    struct timespec pause = {0, CLEANUP_PAUSE_NS};
    for (int i = 0; folder && i < CLEANUP_ATTEMPTS; i++) {
        if (rmdir(folder) == 0 || errno != EBUSY) return;
        nanosleep(&pause, NULL);
    }
}

static void kill_all(int pidfd) {
    if (options.cgroup) write_in(options.cgroup, "cgroup.kill", "1");
    syscall(SYS_pidfd_send_signal, pidfd, SIGKILL, NULL, 0);
    if (options.freezer) write_in(options.freezer, "freezer.state", "THAWED");
}

int main(int argc, char **argv) {
    parse(argc, argv);
    setsid();
    signal(SIGPIPE, SIG_IGN);
    fcntl(options.status, F_SETFD, FD_CLOEXEC);
    fcntl(options.alive, F_SETFD, FD_CLOEXEC);
    int go[2], pidfd = -1;
    if (options.user_namespace) options.uid = (long)geteuid();
    if (pipe2(go, O_CLOEXEC) < 0) die("pipe");
    pid_t pid = start(&pidfd, go[0]);
    char line[128];
    snprintf(line, sizeof line, "pid %d\n", (int)pid);
    report(line);
    if (options.freezer) {
        snprintf(line, sizeof line, "%d", (int)pid);
        if (write_in(options.freezer, "cgroup.procs", line) < 0) { kill_all(pidfd); die("freezer-join"); }
    }
    for (int i = 0; i < options.keeps; i++) close(options.keep[i]); /* or nobody would see the inner end close */
    close(go[0]);
    if (write(go[1], "g", 1) != 1) die("go");
    close(go[1]);

    struct pollfd watched[2] = {{.fd = pidfd, .events = POLLIN}, {.fd = options.alive, .events = POLLIN}};
    int ready = poll(watched, 2, options.wall > 0 ? (int)(options.wall * 1000) + 1 : -1);
    if (ready == 0) report("timeout\n");
    if (!(watched[0].revents & POLLIN)) kill_all(pidfd);
    int status = 0;
    struct rusage usage = {0};
    while (wait4(pid, &status, 0, &usage) < 0 && errno == EINTR) {}
    if (options.cgroup) write_in(options.cgroup, "cgroup.kill", "1"); /* without a pid namespace children outlive it */
    long long cpu = (usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * 1000000LL + usage.ru_utime.tv_usec
                    + usage.ru_stime.tv_usec;
    snprintf(line, sizeof line, "exit %s %d %lld %ld\n", WIFSIGNALED(status) ? "signal" : "code",
             WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status), cpu, usage.ru_maxrss);
    report(line);
    close(options.status); /* the caller need not wait for the tidying up */
    remove_folder(options.cgroup);
    remove_folder(options.freezer);
    return 0;
}
