/* exits.h: how trisolve-sparse says in one number what happened. */
#ifndef TRS_BIN_EXITS_H
#define TRS_BIN_EXITS_H

enum {
    EXIT_GOOD = 0,
    EXIT_USAGE = 1,
    EXIT_PIVOT = 2,
    EXIT_INACCURATE = 3,
    EXIT_MEMORY = 4,
    EXIT_DEVICE = 5,
    EXIT_FAULT = 6
};

/* The exit code of a trs_status; -1: not in the table. */
int exit_of(int status);

/* What the exit code k = 0, 1, ... means; NULL past the last. */
const char *exit_about(int k);

#endif
