/* What the parent and the harness share. The parent believes nothing that it reads here after a kernel was loaded. */
#include <stdatomic.h>
#include <stdint.h>

#define MAX_ARGUMENTS 16
#define LINE 64

enum { ARGUMENT_INPUT = 0, ARGUMENT_OUTPUT = 1, ARGUMENT_VALUE = 2 };

/* Hints about a death, in `report`; only ever used to name a failure, never to excuse one. */
enum { REPORT_NONE = 0, REPORT_SIGNAL = 1, REPORT_MEMORY = 2, REPORT_INPUT = 3, REPORT_STATE = 4, REPORT_GUARD = 5 };

/* One page, mapped by both sides. */
struct control {
    _Alignas(LINE) _Atomic uint64_t command; /* number of the turn; written last by the parent */
    uint64_t first, count;                   /* calls of the table that the turn makes */
    _Alignas(LINE) _Atomic uint64_t done;    /* number of the turn; written by the harness */
    _Alignas(LINE) uint64_t report;
    uint64_t detail, address;
};

/* Sent over the socket together with the descriptors of inputs and outputs. */
struct setup {
    uint64_t mode;      /* 'r': make one call, reply, forget the buffers; 's': spin on the control page for ever */
    uint64_t arguments; /* per call */
    uint64_t calls;
    uint64_t table; /* offset in the inputs: `arguments` kinds, then calls x arguments offsets or values, all uint64 */
    uint64_t input_bytes, output_bytes;
    uint64_t description, description_bytes; /* JSON [[dtype, shape] ...] of inputs and outputs, for the Python driver */
    uint64_t guards; /* offset in the inputs, or 0: for inputs and outputs a number and the offsets of pages to close */
};
