/* io_table.c: the screen of --io.  A megabyte is 10^6 bytes of text, unpacked, or of the text that
 * was written. */
#include "config.h"

#include "report.h"
#include "screen.h"
#include "text.h"

#include "bin/common/exits.h"

#include <inttypes.h>
#include <stdio.h>

static bool wanted(const session *s)
{
    return s->settings.io && !s->outputs.quiet;
}

static int begin(const session *s, void **data)
{
    (void)data;
    print_host(&s->host);
    printf("MB/s of text, medians: reading, and its parts parsing and building; writing\n\n"
           "%-32s %10s %12s %9s %9s %9s %9s\n",
           "matrix", "MB", "entries", "read", "parse", "build", "write");
    return EXIT_GOOD;
}

static void print_figures(const result *r)
{
    const io_figures *f = r->io;
    char t[5][32];
    const double value[] = {1e-6 * (double)f->bytes, megabytes_a_second(f->bytes, f->total),
                            megabytes_a_second(f->bytes, f->parse),
                            megabytes_a_second(f->bytes, f->build),
                            megabytes_a_second(f->written, f->write)};
    for (int k = 0; k < 5; k++) number(t[k], sizeof t[k], value[k]);
    printf("%-32s %10s %12" PRId64 " %9s %9s %9s %9s\n", r->name, t[0], r->nnz, t[1], t[2], t[3],
           t[4]);
}

static int add(const session *s, void *data, const result *r)
{
    (void)s, (void)data;
    if (*r->trouble) printf("%-32s %s\n", r->name, r->trouble);
    else print_figures(r);
    return flush_screen();
}

const reporter reporter_io = {wanted, begin, add, NULL};
