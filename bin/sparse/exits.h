/* exits.h: how trisolve-sparse says in one number what happened. */
#ifndef TRS_BIN_SPARSE_EXITS_H
#define TRS_BIN_SPARSE_EXITS_H

#include "bin/common/exits.h"

/* The exit code of a trs_status; -1: it is not in the table. */
int exit_of(int status);

/* The same, with EXIT_FAULT for what is not in the table. */
int exit_code(int status);

/* What the exit code k = 0, 1, ... or EXIT_INTERRUPTED means; NULL if there is none. */
const char *exit_about(int k);

#endif
