/* exits.h: the exit codes of the programs.  trisolve-sparse has all of them; the others have the
 * same numbers for what they have in common. */
#ifndef TRS_BIN_EXITS_H
#define TRS_BIN_EXITS_H

enum {
    EXIT_GOOD = 0,
    EXIT_USAGE = 1,
    EXIT_PIVOT = 2,
    EXIT_INACCURATE = 3,
    EXIT_MEMORY = 4,
    EXIT_DEVICE = 5,
    EXIT_FAULT = 6,
    EXIT_SINGULAR = 7,
    EXIT_INTERRUPTED = 130 /* as shells call the end by SIGINT */
};

#endif
