/* args.h: the command line of trisolve-bench. */
#ifndef TRS_BIN_BENCH_ARGS_H
#define TRS_BIN_BENCH_ARGS_H

#include "collection/journal.h"
#include "input/input.h"
#include "report/report.h"

typedef struct arguments {
    session session; /* without its host */
    wanted wanted;
    processes processes;
    bool apart;        /* each matrix runs in a process of its own */
    bool calibrate;    /* costs are measured instead */
    bool cpu;          /* no GPU is used */
    bool save;         /* the costs are put into the user's cache */
    bool no_calibrate; /* costs of this CPU are not measured before */
} arguments;

/* Leaves after --help and --version, and after wrong use. */
void parse_arguments(int argc, char **argv, arguments *a);

/* Measures and reports everything that is named (run.c).  Returns an exit code. */
int run(const arguments *a);

#endif
