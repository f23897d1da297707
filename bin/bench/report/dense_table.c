/* dense_table.c: the screen of --dense: a table for each family, triangles and general matrices,
 * with a line for each solver and a column for each size. */
#include "config.h"

#include "report.h"
#include "screen.h"
#include "text.h"

#include "bin/common/message.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char legend[] =
    "Times are in ms: medians, warm, of getting x where the matrix, b and x are already there: the "
    "solve,\n"
    "and in LU the factorisation before it.  What that takes from host arrays on top:\n"
    "  allocate, copy   memory for A, b, x on the device; A, b there and x back\n"
    "  error            the largest over the sizes: componentwise, N: normwise\n"
    "  growth           largest of U over largest of A\n";

static bool wanted(const session *s)
{
    return s->settings.dense && !s->outputs.quiet;
}

static int begin(const session *s, void **data)
{
    *data = calloc(1, sizeof(result_list));
    if (!*data) return out_of_memory();
    print_host(&s->host);
    fputs(legend, stdout);
    if (s->settings.device == TRS_HOST)
        printf("No GPU (%s): the solvers of the CPU alone, nothing to allocate or to copy.\n",
               s->host.gpu);
    return EXIT_GOOD;
}

static int add(const session *s, void *data, const result *r)
{
    (void)s;
    if (!*r->trouble) return result_list_add(data, r);
    printf("\n%s: %s\n", r->name, r->trouble);
    return EXIT_GOOD;
}

/* ---- lines ----------------------------------------------------------------------------------- */

static void print_number(double v)
{
    char t[32];
    printf(" %9s", number(t, sizeof t, v));
}

/* Prints the name, then a number for each size: of cell k, or of the result where k < 0. */
static void print_line(const result_list *all, bool triangle, const char *name, int k,
                       double (*value)(const result *, const cell *, const char *),
                       const char *reference)
{
    printf("  %-22s", name);
    for (int i = 0; i < all->count; i++) {
        const result *r = &all->r[i];
        if (is_triangle(r) == triangle)
            print_number(value(r, k < 0 ? NULL : &r->cells[k], reference));
    }
}

static double value_ms(const result *r, const cell *c, const char *unused)
{
    (void)unused;
    return 1e3 * seconds_to_solve(r, c);
}

static double value_over(const result *r, const cell *c, const char *reference)
{
    const cell *f = find_cell(r, reference, 0);
    return f ? seconds_to_solve(r, c) / seconds_to_solve(r, f) : (double)NAN;
}

static double value_alloc(const result *r, const cell *c, const char *unused)
{
    (void)c, (void)unused;
    return r->alloc > 0 ? 1e3 * r->alloc : (double)NAN;
}

static double value_copy(const result *r, const cell *c, const char *unused)
{
    (void)c, (void)unused;
    return r->copy > 0 ? 1e3 * r->copy : (double)NAN;
}

static double value_ratio(const result *r, const cell *c, const char *unused)
{
    (void)c, (void)unused;
    const cell *a = find_cell(r, "lu-fullgrid", 0), *b = find_cell(r, "lu-submatrix", 0);
    return a && b ? a->factor / b->factor : (double)NAN;
}

/* Prints the largest error and growth of cell k over the sizes. */
static void print_errors(const result_list *all, bool triangle, int k)
{
    double error = NAN, growth = 0;
    bool normwise = false, accurate = true;
    for (int i = 0; i < all->count; i++) {
        const cell *c = &all->r[i].cells[k];
        if (is_triangle(&all->r[i]) != triangle || c->status) continue;
        normwise = promises_normwise(c);
        error = fmax(error, promised_error(c));
        growth = fmax(growth, c->info.growth);
        accurate = accurate && c->accurate;
    }
    if (!isnan(error)) printf("  %8.1e%s", error, normwise ? "N" : " ");
    if (growth > 0) printf(" %7.2g", growth);
    puts(accurate ? "" : "  INACCURATE");
}

static void cell_name(const cell *c, char *name, size_t size)
{
    if (c->block) snprintf(name, size, "%s/%d", c->solver.name, c->block);
    else snprintf(name, size, "%s", c->solver.name);
}

/* Says why there are numbers missing, each reason once. */
static void print_reasons(const result_list *all, bool triangle, int k)
{
    const char *last = "";
    for (int i = 0; i < all->count; i++) {
        const result *r = &all->r[i];
        const cell *c = &r->cells[k];
        char name[80];
        if (is_triangle(r) != triangle || !c->status || !strcmp(last, c->message)) continue;
        cell_name(c, name, sizeof name);
        printf("  - %s, n %" PRId64 ": %s\n", name, r->n, c->message);
        last = c->message;
    }
}

/* The first of the names that ran somewhere; NULL: none. */
static const char *find_reference(const result_list *all, const char *const *names)
{
    for (; *names; names++)
        for (int i = 0; i < all->count; i++)
            if (find_cell(&all->r[i], *names, 0)) return *names;
    return NULL;
}

static void print_lines(const result_list *all, bool triangle, const result *first,
                        const char *reference)
{
    for (int k = 0; k < first->count; k++) {
        char name[80];
        cell_name(&first->cells[k], name, sizeof name);
        print_line(all, triangle, name, k, reference ? value_over : value_ms, reference);
        if (reference) puts("");
        else print_errors(all, triangle, k);
    }
}

static void print_moves(const result_list *all, bool triangle)
{
    print_line(all, triangle, "(allocate)", -1, value_alloc, NULL), puts("");
    print_line(all, triangle, "(copy)", -1, value_copy, NULL), puts("");
}

/* Prints the sizes above the columns; returns the first result of the family, NULL: there is
 * none. */
static const result *print_sizes(const result_list *all, bool triangle)
{
    const result *first = NULL;
    printf("\n%-24s", triangle ? "Triangles" : "LU and Gauss");
    for (int i = 0; i < all->count; i++) {
        const result *r = &all->r[i];
        if (is_triangle(r) != triangle) continue;
        if (!first) first = r;
        printf(" %9" PRId64, r->n);
    }
    puts(triangle ? "     error" : "     error  growth");
    return first;
}

static void print_family(const settings *s, const result_list *all, bool triangle)
{
    static const char *const references[2][4] = {{"cusolver-getrf", "lapack-getrf", "lu-serial"},
                                                 {"cublas-dense", "dense-serial", "cpu-serial"}};
    const char *reference = find_reference(all, references[triangle]);
    const result *first = print_sizes(all, triangle);
    if (!first) return;
    print_lines(all, triangle, first, NULL);
    if (s->device != TRS_HOST) print_moves(all, triangle);
    for (int k = 0; k < first->count; k++) print_reasons(all, triangle, k);
    if (reference) {
        printf("Over %s (below 1: faster)\n", reference);
        print_lines(all, triangle, first, reference);
    }
    if (triangle || s->device == TRS_HOST) return;
    print_line(all, false, "fullgrid / submatrix", -1, value_ratio, NULL);
    puts("   (to factor; the seed had 23)");
}

static int end(const session *s, void *data, bool complete)
{
    result_list *all = data;
    if (complete) print_family(&s->settings, all, true), print_family(&s->settings, all, false);
    result_list_free(all);
    free(all);
    return flush_screen();
}

const reporter reporter_dense = {wanted, begin, add, end};
