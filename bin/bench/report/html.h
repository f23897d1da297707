/* html.h: the parts of the page that --html writes. */
#ifndef TRS_BIN_BENCH_HTML_H
#define TRS_BIN_BENCH_HTML_H

#include "bin/bench/bench.h"

/* ---- bench_html.c -------------------------------------------------------------------------------- */

void html_text(FILE *f, const char *text);
void html_number(FILE *f, double v);                     /* a field of a table; NaN: a dash */
int html_place(const kept *k, const result *r);          /* k: its section, or its line, is #mk */
void html_link(FILE *f, const kept *k, const result *r); /* its name, as a link to its place */

/* ---- bench_html_summary.c: what stands before the matrices ---------------------------------------- */

void html_summary(FILE *f, const settings *s, const kept *k);
void html_solvers(FILE *f, const settings *s, const kept *k);
void html_slow(FILE *f, const settings *s, const kept *k);
bool html_any_failed(const kept *k); /* is there anything for: */
void html_failed(FILE *f, const kept *k);
void html_index(FILE *f, const settings *s, const kept *k);

/* ---- bench_html_table.c --------------------------------------------------------------------------- */

/* The section of a matrix that was not refused. */
void html_matrix(FILE *f, const settings *s, const kept *k, const result *r);

#endif
