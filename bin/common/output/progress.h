/* progress.h: what a program is doing, on the terminal while it takes long; and Ctrl-C. */
#ifndef TRS_BIN_PROGRESS_H
#define TRS_BIN_PROGRESS_H

#include <stdbool.h>
#include <stdio.h>

/* From here to progress_end, note the phases of the library's calls, and how long they take.  Unless quiet, and if the
 * standard error stream is a terminal, a phase that takes longer than a second has a line there: its name, seconds, and the
 * most memory that the process has had.  The line goes away with the phase, and before each sentence of message.h. */
void progress_begin(bool quiet);
void progress_end(void); /* also if it has not begun, or has ended */

/* A phase of the program itself; name is a constant. */
void progress_phase(const char *name);

/* Print the phases in the order in which they began first, as "reading 1.2 s, ordering 12 s". */
void progress_print(FILE *out);

/* The first Ctrl-C from now on cancels the library's long calls, and silences the sentences of message.h, since whatever
 * fails then fails for that.  The second one ends the process.  If Ctrl-C is ignored it stays so. */
void catch_interrupts(void);
bool is_interrupted(void);

/* Flush standard output, and end the process as Ctrl-C does, so that a shell knows and ends its loop. */
_Noreturn void end_interrupted(void);

#endif
