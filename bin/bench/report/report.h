/* report.h: a reporter writes the results of a run somewhere: on the screen, into a file, to
 * another process.
 *
 * It is a file that ends in `const reporter reporter_NAME`, and a line of the list below.  All
 * reporters that are wanted get the same results, one after the other. */
#ifndef TRS_BIN_BENCH_REPORT_H
#define TRS_BIN_BENCH_REPORT_H

#include "bin/bench/measure/host.h"
#include "bin/bench/measure/result.h"
#include "bin/bench/measure/settings.h"

typedef struct outputs {           /* what is wanted */
    const char *csv, *json, *html; /* files; NULL: none */
    const char *plot;              /* a folder; NULL: none */
    bool choice;                   /* how good the automatic choice is, on the screen */
    bool quiet;                    /* no table on the screen */
    int child; /* where a child process sends its results, a descriptor; 0: this is none */
} outputs;

typedef struct session { /* what does not change during a run */
    outputs outputs;
    settings settings;
    host host;
} session;

/* begin, add and end return exit codes; NULL stands for a begin or an end that does nothing.  A
 * begin that fails leaves nothing behind, and then there is no end.  end releases data, and removes
 * a file that is not complete. */
typedef struct reporter {
    bool (*wanted)(const session *s);
    int (*begin)(const session *s, void **data);
    int (*add)(const session *s, void *data, const result *r);
    int (*end)(const session *s, void *data, bool complete);
} reporter;

/* Every reporter, in the order in which they get a result. */
#define EVERY_REPORTER(X)                                                                          \
    X(table)                                                                                       \
    X(dense)                                                                                       \
    X(choice)                                                                                      \
    X(csv)                                                                                         \
    X(json)                                                                                        \
    X(plot)                                                                                        \
    X(html)                                                                                        \
    X(io)                                                                                          \
    X(wire)

/* ---- all that are wanted at once, with exit codes -------------------------------------------- */

enum { MOST_REPORTERS = 16 };

typedef struct reports {
    const session *session;
    bool open[MOST_REPORTERS];  /* it is wanted, and has begun */
    void *data[MOST_REPORTERS]; /* what its begin has set */
} reports;

int reports_begin(reports *r, const session *s);
int reports_add(reports *r, const result *one);
int reports_end(reports *r, bool complete); /* also after a reports_begin that failed */

#endif
