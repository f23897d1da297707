/* io_table.c: the screen of --io.  A megabyte is 10^6 bytes of text, unpacked, or of the text that
 * was written. */
#include "config.h"

#include "report.h"
#include "screen.h"
#include "text.h"

#include "bin/common/exits.h"

#include <inttypes.h>
#include <stdio.h>

static int begin(const report *p)
{
    print_host(&p->session->host);
    printf("MB/s of text, medians: reading, and its parts parsing and building; writing\n\n"
           "%-32s %10s %12s %9s %9s %9s %9s\n",
           "matrix", "MB", "entries", "read", "parse", "build", "write");
    return EXIT_GOOD;
}

static int add(const report *p, const result *r)
{
    const io_figures *f = &r->io;
    (void)p;
    if (*r->trouble) return printf("%-32s %s\n", r->name, r->trouble), EXIT_GOOD;
    printf("%-32s %10s %12" PRId64, r->name, number(1e-6 * (double)f->bytes).s, r->nnz);
    print_number(megabytes_a_second(f->bytes, f->total));
    print_number(megabytes_a_second(f->bytes, f->parse));
    print_number(megabytes_a_second(f->bytes, f->build));
    print_number(megabytes_a_second(f->written, f->write));
    puts("");
    return EXIT_GOOD;
}

const reporter reporter_io = {begin, add, NULL};
