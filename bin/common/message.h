/* message.h: sentences on the standard error stream, with the name of the program before them. */
#ifndef TRS_BIN_MESSAGE_H
#define TRS_BIN_MESSAGE_H

#include "exits.h"

extern const char program_name[]; /* each program defines it */

void complain(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Complains of wrong use, with the value that is wrong (NULL: there is none), and leaves with
 * EXIT_USAGE. */
_Noreturn void wrong(const char *what, const char *value);

/* Complains, and returns EXIT_USAGE. */
int out_of_memory(void);

#endif
