/* report.h: a reporter writes the results of a run somewhere: on the screen or into a
 * file.
 *
 * It is a file that ends in `const reporter reporter_NAME`, and a line of the list in report.c.
 * All reporters that are wanted get the same results, one after the other, and keep nothing: what
 * was measured so far is in the list that they share. */
#ifndef TRS_BIN_BENCH_REPORT_H
#define TRS_BIN_BENCH_REPORT_H

#include "bin/bench/measure/host.h"
#include "bin/bench/measure/result.h"
#include "bin/bench/measure/settings.h"
#include "bin/common/output/output.h"

typedef struct outputs {           /* what is wanted */
    const char *csv, *json, *html; /* files; NULL: none */
    const char *plot;              /* a folder; NULL: none */
    bool choice;                   /* how good the automatic choice is, on the screen */
    bool quiet;                    /* no table on the screen */
    FILE *child; /* where a child process writes its results; NULL: this is none */
} outputs;

typedef struct session { /* what does not change during a run */
    outputs outputs;
    settings settings;
    host host;
} session;

typedef struct report { /* what a reporter writes, and from what */
    FILE *f;            /* its file, which appears when the run is complete; or standard output */
    const session *session;
    const settings *settings; /* of the session */
    const result_list *all;   /* the results so far */
    const struct reporter *by;
    output out; /* behind f; of standard output not in use */
    int status; /* the exit status of the run, known at its end */
} report;

/* They return exit codes; NULL stands for one that does nothing.  end is called when the run is
 * complete; that of JSON, which has the exit status, always.  Whether f could be written is seen to in report.c. */
typedef struct reporter {
    int (*begin)(const report *p);
    int (*add)(const report *p, const result *r);
    int (*end)(const report *p);
} reporter;

/* ---- all that are wanted at once, with exit codes -------------------------------------------- */

enum { MOST_REPORTS = 8 };

typedef struct reports {
    int count;
    report report[MOST_REPORTS]; /* [count] those that are wanted, and have begun */
    result_list all;
} reports;

int reports_begin(reports *r, const session *s);
int reports_add(reports *r, const result *one);
/* Also after a reports_begin that failed.  Files that are not complete are dropped: the old ones stay.
 * status: the exit status so far. */
int reports_end(reports *r, bool complete, int status);

/* The name of the first that appears as a file when the run is complete; NULL: there is none. */
const char *reports_first_file(const reports *r);

#endif
