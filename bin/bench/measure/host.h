/* host.h: the facts of a run: with what, where and when it measured. */
#ifndef TRS_BIN_BENCH_HOST_H
#define TRS_BIN_BENCH_HOST_H

#include "settings.h"

typedef struct host {
    char date[32], cpu[128];
    char gpu[256];   /* its name, or why none is used */
    char driver[64]; /* the version of NVIDIA's driver; "": there is none */
    char os[200];
    char clock[80]; /* of the CPU when the run began, and what governs it */
    char blas[200]; /* the library that has dgemm; "": none is loaded */
    char command[400];
    int threads;
} host;

extern const char built_commit[], built_by[]; /* the compiler and its flags */

/* argv: the command line, with NULL at its end. */
void find_host(const settings *s, char *const *argv, host *h);

/* Processes that ran or waited for a processor, the mean over a minute; NaN: the system does not tell. */
double load_average(void);

#endif
