/* io.h: --io: how fast files are read, built into CSR and written. */
#ifndef TRS_BIN_BENCH_IO_H
#define TRS_BIN_BENCH_IO_H

#include "result.h"
#include "settings.h"

/* Measures every file of the list; a file that cannot be read is complained of, and the others go
 * on.  Returns an exit code. */
int run_io(const settings *s, char *const *files, int count, taker to);

#endif
