/* kinds.h: the kinds of figures.  Each function adds its figures to the list, or none where there
 * is nothing to show, and returns an exit code. */
#ifndef TRS_BIN_BENCH_KINDS_H
#define TRS_BIN_BENCH_KINDS_H

#include "comparison.h"
#include "figures.h"

int add_profile(const settings *s, const result_list *results, figure_list *l);
int add_ratios(const result_list *results, const comparison *v, figure_list *l);
int add_bars(const result_list *results, const comparison *v, figure_list *l);
int add_dense_figures(const result_list *results, figure_list *l);

#endif
