/* figures.c: which figures there are. */
#include "config.h"

#include "kinds.h"

#include "bin/common/exits.h"

#include <stdlib.h>

int make_figures(const settings *s, const result_list *results, figure_list *l)
{
    comparison v;
    *l = (figure_list){0};
    if (!first_solved(results)) return EXIT_GOOD;
    if (s->dense) return add_dense_figures(results, l);
    int code = comparison_make(&v, results);
    if (!code) code = add_profile(s, results, l);
    if (!code) code = add_ratios(results, &v, l);
    if (!code) code = add_bars(results, &v, l);
    comparison_free(&v);
    return code;
}

void figures_free(figure_list *l)
{
    for (int k = 0; k < l->count; k++) free(l->figure[k].script), free(l->figure[k].svg);
    free(l->figure);
}
