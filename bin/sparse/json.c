/* json.c: the report as JSON. */
#include "config.h"

#include "report.h"

#include "bin/common/files.h"
#include "bin/common/message.h"

#ifdef HAVE_JANSSON

#include <jansson.h>
#include <math.h>

static json_t *number(double v)
{
    return isfinite(v) ? json_real(v) : json_null();
}

static json_t *triangle_json(const trs_info *i)
{
    return json_pack("{s:I, s:I, s:I, s:I}", "entries", (json_int_t)i->nnz, "levels",
                     (json_int_t)i->levels, "widest_level", (json_int_t)i->widest, "longest_row",
                     (json_int_t)i->longest);
}

/* The version, the matrix, and what was solved with which solver. */
static json_t *problem_json(const report *r)
{
    const trs_mm *f = &r->problem->file;
    const char *shape = r->factored ? "general" : shape_name(r->problem->A.kind);
    return json_pack("{s:s, s:{s:s, s:I, s:I, s:s, s:s, s:I}, s:s, s:i, s:s, s:s, s:s}", "version",
                     trs_version(), "matrix", "file", r->args->matrix, "n", (json_int_t)f->rows,
                     "entries", (json_int_t)entries_of_file(r), "field", field_name(f->field),
                     "symmetry", symmetry_name(f->symmetry), "duplicates",
                     (json_int_t)f->duplicates, "shape", shape, "nrhs", r->problem->nrhs, "solver",
                     r->solver, "reason", r->reason, "costs", r->costs);
}

static void add_triangles(json_t *j, const report *r)
{
    json_object_set_new(j, r->factored ? "L" : "triangle", triangle_json(&r->l));
    json_object_set_new(j, "level_analysis", json_string(r->l.analysis));
    if (!r->factored) return;
    if (r->has_u) json_object_set_new(j, "U", triangle_json(&r->u));
    json_object_set_new(j, "factor",
                        json_pack("{s:s, s:s, s:i}", "library", r->library, "ordering", r->ordering,
                                  "refinement_steps", r->refined));
}

static void add_times(json_t *j, const report *r)
{
    json_object_set_new(
        j, "seconds",
        json_pack("{s:f, s:f, s:f, s:f, s:{s:i, s:f, s:f, s:f}}", "read", r->seconds_read, "factor",
                  r->seconds_factor, "analysis", r->seconds_analyse, "levels",
                  r->l.seconds_levels + r->u.seconds_levels, "solve", "count", r->solve.count,
                  "min", r->solve.min, "median", r->solve.median, "max", r->solve.max));
}

static void add_refinement(json_t *j, const report *r)
{
    if (r->refined > 0) {
        json_object_set_new(j, "refined", json_integer(r->refined));
        json_object_set_new(j, "backward_error_before", number(r->omega_before));
    }
    if (r->stopped)
        json_object_set_new(j, "refinement_stopped", json_string(stop_name(r->stopped)));
    if (*r->failure) json_object_set_new(j, "failure", json_string(r->failure));
}

static void add_determinant(json_t *j, const trs_det *d)
{
    json_object_set_new(j, "determinant",
                        json_pack("{s:[f, f], s:f, s:I}", "phase", d->re, d->im, "mantissa",
                                  d->mantissa, "exponent", (json_int_t)d->exponent));
}

static void add_krylov(json_t *j, const report *r)
{
    const trs_krylov_info *k = &r->krylov;
    const krylov_split *t = &r->split;
    if (!r->history) return;
    json_t *history = json_array();
    for (int64_t i = 0; i <= k->iterations; i++)
        json_array_append_new(history, number(relative_residual(k, r->history[i])));
    json_object_set_new(
        j, "krylov",
        json_pack("{s:s, s:b, s:s, s:s, s:I, s:o, s:f, s:o, s:{s:f, s:f, s:f, s:f}}", "method",
                  r->args->krylov, "converged", k->stop == TRS_STOP_CONVERGED, "stop",
                  stop_name(k->stop), "why", k->why, "iterations", (json_int_t)k->iterations,
                  "relative_residual", number(relative_residual(k, k->residual)), "rtol",
                  r->args->rtol, "history", history, "seconds_an_iteration", "all", t->iteration,
                  "product", t->product, "preconditioner", t->preconditioner, "vectors",
                  t->vectors));
}

static void add_steps(json_t *j, const report *r)
{
    const step_times *s = &r->steps;
    if (!s->count) return;
    json_t *list = json_array();
    for (int k = 0; k < s->count; k++)
        json_array_append_new(list, json_pack("{s:f, s:f, s:i}", "update_seconds",
                                              s->update_seconds[k], "solve_seconds",
                                              s->solve_seconds[k], "iterations", s->iterations[k]));
    json_object_set_new(j, "steps", list);
}

static json_t *report_json(const report *r)
{
    const problem *p = r->problem;
    json_t *j = problem_json(r);
    if (!j) return NULL;
    json_object_set_new(j, "rhs", json_string(p->rhs ? p->rhs : p->made));
    json_object_set_new(j, "precision", json_string(precision_name(r)));
    add_triangles(j, r);
    add_times(j, r);
    add_refinement(j, r);
    add_krylov(j, r);
    add_steps(j, r);
    if (r->args->cond && !r->incomplete)
        json_object_set_new(j, "rcond_1norm", number(r->condition));
    if (r->args->det) add_determinant(j, &r->det);
    json_object_set_new(j, "backward_error", number(r->error.omega));
    json_object_set_new(j, "bad_pivots", json_integer((json_int_t)r->pivots));
    json_object_set_new(j, "normwise_error", number(r->error.normwise));
    json_object_set_new(j, "forward_error", number(r->forward));
    if (r->factored && r->estimated) json_object_set_new(j, "rcond", number(r->condition));
    json_object_set_new(j, "tolerance", number(r->tolerance));
    return j;
}

int print_json(const report *r)
{
    json_t *j = report_json(r);
    FILE *out = report_stream(r);
    int failed = !j || json_dumpf(j, out, JSON_INDENT(2)) || fputc('\n', out) == EOF;
    json_decref(j);
    return failed ? (complain("cannot write the report"), EXIT_USAGE) : EXIT_GOOD;
}

#else

int print_json(const report *r)
{
    (void)r;
    complain("--json: built without jansson");
    return EXIT_USAGE;
}

#endif
