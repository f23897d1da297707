/* page.h: the parts of the page that --html writes. */
#ifndef TRS_BIN_BENCH_PAGE_H
#define TRS_BIN_BENCH_PAGE_H

#include "bin/bench/report/report.h"

/* ---- what all parts write (page.c) ----------------------------------------------------------- */

/* escaped (text).s is the text as HTML has it. */
typedef struct html_text {
    char s[5000];
} html_text;

html_text escaped(const char *text);

void put_number(FILE *f, double v);       /* as a field of a table; NaN: a dash */
void put_word(FILE *f, const char *word); /* likewise; NULL: a dash */

/* Begins a line of a table with the name of a result, as a link to its section or line, which has
 * the id "m" and its number from 1. */
void put_link(const report *p, const result *r);
int number_of(const report *p, const result *r);

/* ---- what is said of all results (summary.c) ------------------------------------------------- */

void put_summary(const report *p);
void put_solvers(const report *p);

/* ---- which results are looked at for what (lists.c) ------------------------------------------ */

void put_slow(const report *p);       /* those on which the choice is slow */
bool has_failed(const report *p);     /* is there anything for: */
void put_failed(const report *p);     /* what was refused, or solved inaccurately */
void put_every_line(const report *p); /* all of them */

/* ---- a result that was not refused (table.c) ------------------------------------------------- */

void put_section(const report *p, const result *r);

#endif
