/* comparison.c: which solvers the figures of ratios show, over which reference, and how far their
 * axis reaches. */
#include "config.h"

#include "comparison.h"

#include "bin/common/message.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char *find_reference(const result_list *l)
{
    for (int i = 0; i < l->count; i++)
        if (find_cell(&l->r[i], "cusparse", 0)) return "cusparse";
    return "cpu-serial";
}

double ratio_of(const comparison *v, const result *r, int solver)
{
    return r->count ? over_solve(r, &r->cells[solver], v->reference) : (double)NAN;
}

static int count_points(const comparison *v, const result_list *l, int solver)
{
    int count = 0;
    for (int i = 0; i < l->count; i++) count += !isnan(ratio_of(v, &l->r[i], solver));
    return count;
}

/* Extends the axis to the ratios of a solver that is drawn.  fmin and fmax leave a NaN out. */
static void extend_axis(comparison *v, const result_list *l, int solver)
{
    const double lowest = 0.01, highest = 100, margin = 1.1;
    for (int i = 0; i < l->count; i++) {
        const double ratio = ratio_of(v, &l->r[i], solver);
        v->low = fmax(lowest, fmin(v->low, ratio / margin));
        v->high = fmin(highest, fmax(v->high, ratio * margin));
    }
}

static void put_left_out(comparison *v, const char *name)
{
    const size_t at = strlen(v->left_out), size = sizeof v->left_out;
    snprintf(v->left_out + at, size - at, "%s%s", at ? ", " : " Not drawn: ", name);
}

int comparison_make(comparison *v, const result_list *l)
{
    const result *first = first_solved(l);
    bool others = false; /* is a solver drawn that does not keep the matrix full? */
    *v = (comparison){
        .reference = find_reference(l), .solvers = first->count, .low = 0.5, .high = 2};
    for (int i = 0; i < l->count; i++) v->triangles += l->r[i].count > 0;
    v->points = calloc((size_t)v->solvers + 1, sizeof *v->points);
    if (!v->points) return out_of_memory();
    for (int c = 0; c < v->solvers; c++) {
        const trs_solver_info *one = &first->cells[c].solver;
        if (strcmp(one->name, v->reference) != 0) v->points[c] = count_points(v, l, c);
        others = others || (v->points[c] && !one->full);
    }
    for (int c = 0; c < v->solvers; c++) {
        if (!v->points[c]) continue;
        if (others && first->cells[c].solver.full) v->points[c] = 0;
        if (v->points[c]) extend_axis(v, l, c), v->drawn++;
        else put_left_out(v, first->cells[c].solver.name);
    }
    const size_t at = strlen(v->left_out);
    if (at)
        snprintf(v->left_out + at, sizeof v->left_out - at,
                 ", which store%s the triangle as a full matrix.",
                 strchr(v->left_out, ',') ? "" : "s");
    return EXIT_GOOD;
}

void put_cut(FILE *f, const comparison *v)
{
    fprintf(f, "low = %.4g\nhigh = %.4g\n", v->low, v->high);
    fputs("cut(r) = r < low ? low : r > high ? high : r\n", f);
}

void comparison_free(comparison *v)
{
    free(v->points);
}
