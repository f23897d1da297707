/* message.h: sentences on the standard error stream, with the name of the program before them. */
#ifndef TRS_BIN_MESSAGE_H
#define TRS_BIN_MESSAGE_H

#include "exits.h"

#include <stdbool.h>

extern const char program_name[]; /* each program defines it */

void complain(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Called before each sentence of complain, which is dropped if it returns false.  NULL: there is nothing to do. */
extern bool (*before_complaint)(void);

/* The last sentence of complain; "": there was none. */
const char *complaint(void);

/* Complains of wrong use, with the value that is wrong (NULL: there is none), and leaves with
 * EXIT_USAGE. */
_Noreturn void wrong(const char *what, const char *value);

/* Called after the sentence of wrong use.  NULL: there is nothing to do. */
extern void (*after_wrong)(void);

/* The same for a mistyped word, with the known one that is nearest (NULL: none is near). */
_Noreturn void wrong_word(const char *what, const char *word, const char *nearest);

/* Complains, and returns EXIT_USAGE. */
int out_of_memory(void);

/* Open those of the descriptors 0, 1 and 2 that are closed, before anything else gets them: what is
 * written to a stream must not get into a file.  Using such a stream fails as if it were closed. */
void open_standard_streams(void);

/* Write out standard output.  Returns code; after a failure EXIT_USAGE for EXIT_GOOD, with a
 * sentence. */
int flush_output(int code);

#endif
