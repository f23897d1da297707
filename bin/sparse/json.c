/* json.c: the report as JSON: everything that was known when the program ended. */
#include "config.h"

#include "report.h"

#include "bin/common/files.h"
#include "bin/common/message.h"
#include "bin/common/output/document.h"

#ifdef HAVE_JANSSON

static json_t *triangle_json(const report *r, const trs_info *i)
{
    json_t *j = json_pack("{s:I, s:I, s:I, s:I}", "entries", (json_int_t)i->nnz, "levels",
                          (json_int_t)i->levels, "widest", (json_int_t)i->widest, "longest_row",
                          (json_int_t)i->longest);
    if (r->args->sweeps) json_object_set_new(j, "sweep_error", document_number(i->sweep_error));
    return j;
}

/* ---- the problem, as far as it was read ------------------------------------------------------ */

static void add_matrix(json_t *j, const report *r)
{
    const trs_mm *f = &r->problem->file;
    json_t *matrix = json_pack("{s:o}", "file", document_text(r->args->matrix));
    if (f->size_line || f->val)
        json_object_update_new(matrix,
                               json_pack("{s:s, s:s, s:I, s:I}", "field", field_name(f->field),
                                         "symmetry", symmetry_name(f->symmetry), "rows",
                                         (json_int_t)f->rows, "cols", (json_int_t)f->cols));
    if (f->val)
        json_object_update_new(matrix,
                               json_pack("{s:I, s:I}", "entries", (json_int_t)entries_of_file(r),
                                         "duplicates", (json_int_t)f->duplicates));
    json_object_set_new(j, "matrix", matrix);
}

static void add_problem(json_t *j, const report *r)
{
    const problem *p = r->problem;
    const char *shape = r->factored ? "general" : shape_name(p->A.kind);
    json_object_update_new(j, json_pack("{s:s, s:i, s:o, s:s}", "shape", shape, "nrhs", p->nrhs,
                                        "rhs", document_text(p->rhs ? p->rhs : p->made),
                                        "precision", precision_name(r)));
}

/* ---- how it was solved ----------------------------------------------------------------------- */

static void add_solver(json_t *j, const report *r)
{
    json_object_update_new(j,
                           json_pack("{s:s, s:s, s:s, s:o, s:s}", "solver", r->solver, "reason",
                                     r->reason, "costs", r->costs, r->factored ? "L" : "triangle",
                                     triangle_json(r, &r->l), "level_analysis", r->l.analysis));
    if (!r->factored) return;
    if (r->has_u) json_object_set_new(j, "U", triangle_json(r, &r->u));
    json_object_set_new(j, "factor",
                        json_pack("{s:s, s:s}", "library", r->library, "ordering", r->ordering));
}

static void add_times(json_t *j, const report *r)
{
    json_t *seconds = json_pack("{s:f}", "read", r->seconds_read);
    if (*r->solver)
        json_object_update_new(seconds, json_pack("{s:f, s:f, s:f}", "factor", r->seconds_factor,
                                                  "analysis", r->seconds_analyse, "levels",
                                                  r->l.seconds_levels + r->u.seconds_levels));
    if (r->solve.count)
        json_object_set_new(seconds, "solve",
                            json_pack("{s:i, s:f, s:f, s:f}", "count", r->solve.count, "min",
                                      r->solve.min, "median", r->solve.median, "max",
                                      r->solve.max));
    json_object_set_new(j, "seconds", seconds);
}

static void add_refinement(json_t *j, const report *r)
{
    if (r->refined >= 0) json_object_set_new(j, "refined", json_integer(r->refined));
    if (r->refined > 0)
        json_object_set_new(j, "backward_error_before", document_number(r->omega_before));
    if (r->stopped)
        json_object_set_new(j, "refinement_stopped", json_string(stop_name(r->stopped)));
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
        json_array_append_new(history, document_number(relative_residual(k, r->history[i])));
    json_object_set_new(
        j, "krylov",
        json_pack("{s:s, s:b, s:s, s:s, s:I, s:o, s:f, s:o, s:{s:f, s:f, s:f, s:f}}", "method",
                  r->args->krylov, "converged", k->stop == TRS_STOP_CONVERGED, "stop",
                  stop_name(k->stop), "why", k->why, "iterations", (json_int_t)k->iterations,
                  "relative_residual", document_number(relative_residual(k, k->residual)), "rtol",
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

/* Once x was judged. */
static void add_errors(json_t *j, const report *r)
{
    if (r->args->det) add_determinant(j, &r->det);
    if (r->estimated) json_object_set_new(j, "rcond", document_number(r->condition));
    json_object_update_new(j, json_pack("{s:o, s:o, s:o, s:I, s:f}", "backward_error",
                                        document_number(r->error.omega), "normwise_error",
                                        document_number(r->error.normwise), "forward_error",
                                        document_number(r->forward), "bad_pivots",
                                        (json_int_t)r->pivots, "tolerance", r->tolerance));
}

int print_json(const report *r, int status)
{
    const bool cancelled = status == EXIT_INTERRUPTED;
    json_t *j = document_new(status, cancelled ? "interrupted" : complaint());
    add_matrix(j, r);
    if (r->problem->X) add_problem(j, r);
    if (r->problem->file.val) add_times(j, r);
    if (*r->solver) add_solver(j, r);
    add_refinement(j, r);
    add_krylov(j, r);
    add_steps(j, r);
    if (r->tolerance > 0) add_errors(j, r);
    return document_write(j, report_stream(r));
}

#else

int print_json(const report *r, int status)
{
    (void)r, (void)status;
    complain("--json: built without jansson");
    return EXIT_USAGE;
}

#endif
