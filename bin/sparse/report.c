/* report.c: what was done and found, as text. */
#include "config.h"

#include "report.h"

#include "base/noun.h"
#include "bin/common/files.h"
#include "bin/common/message.h"
#include "bin/common/numbers.h"
#include "bin/common/output/progress.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

static const char *op_name(trs_op op)
{
    static const char *const name[] = {"A x = b", "A' x = b", "conj(A') x = b"};
    return name[op];
}

const char *shape_name(unsigned kind)
{
    if (kind & TRS_PERMUTED) return "triangle after permutation of rows and columns";
    if (!(kind & (TRS_LOWER | TRS_UPPER))) return "general";
    if (kind & TRS_UNIT) return kind & TRS_LOWER ? "unit lower triangle" : "unit upper triangle";
    return kind & TRS_LOWER ? "lower triangle" : "upper triangle";
}

const char *precision_name(const report *r)
{
    if (is_single(r->problem->A.dtype)) return "single precision";
    return r->args->single ? "single precision, refined in double" : "double precision";
}

/* As "1.23 ms". */
static const char *duration(char *text, size_t size, double s)
{
    if (s < 1e-3) snprintf(text, size, "%.3g us", 1e6 * s);
    else if (s < 1) snprintf(text, size, "%.3g ms", 1e3 * s);
    else snprintf(text, size, "%.4g s", s);
    return text;
}

FILE *report_stream(const report *r)
{
    const char *x = r->args->output;
    return x && (!strcmp(x, "-") || !strcmp(x, "/dev/stdout")) ? stderr : stdout;
}

static void print_levels(FILE *out, const char *name, const trs_info *i)
{
    if (!i->levels) {
        fprintf(out, "%-10s %" PRId64 " %s\n", name, i->nnz, trs_noun(i->nnz, "entry", "entries"));
        return;
    }
    fprintf(out,
            "%-10s %" PRId64 " %s, %" PRId64 " %s, widest %" PRId64 ", longest row %" PRId64 "\n",
            name, i->nnz, trs_noun(i->nnz, "entry", "entries"), i->levels,
            trs_noun(i->levels, "level", "levels"), i->widest, i->longest);
}

static const char *factors_name(const report *r)
{
    if (r->incomplete) return "incomplete factors of the";
    return r->factored ? "factors of the" : "the";
}

int64_t entries_of_file(const report *r)
{
    const trs_mm *f = &r->problem->file;
    return f->format == TRS_DENSE ? f->rows * f->cols : f->nnz;
}

static void print_file(FILE *out, const report *r)
{
    const trs_mm *f = &r->problem->file;
    const int64_t entries = entries_of_file(r);
    fprintf(out, "matrix     %s: %" PRId64 " x %" PRId64 ", %" PRId64 " %s, %s %s\n",
            r->args->matrix, f->rows, f->cols, entries, trs_noun(entries, "entry", "entries"),
            field_name(f->field), symmetry_name(f->symmetry));
    if (f->duplicates)
        fprintf(out, "           %" PRId64 " %s added to another one in the same place\n",
                f->duplicates, trs_noun(f->duplicates, "entry was", "entries were"));
}

static void print_problem(FILE *out, const report *r)
{
    const problem *p = r->problem;
    fprintf(out, "solved     %s with %s %s, %s%s\n", op_name(r->args->op), factors_name(r),
            r->factored ? "matrix" : shape_name(p->A.kind),
            p->A.kind & TRS_PERMUTED ? "no factors needed, " : "", precision_name(r));
    if (p->rhs)
        fprintf(out, "rhs        %s: %d %s\n", p->rhs, p->nrhs,
                trs_noun(p->nrhs, "column", "columns"));
    else fprintf(out, "rhs        none given, b = %s\n", p->made);
}

const char *stop_name(trs_stop stop)
{
    static const char *const name[] = {"",          "converged", "steps",
                                       "stagnated", "diverged",  "breakdown"};
    return name[stop];
}

static void print_refinement(FILE *out, const report *r)
{
    if (r->refined < 0) return;
    fprintf(out, "refined    %d %s", r->refined, trs_noun(r->refined, "step", "steps"));
    if (r->stopped == TRS_STOP_STEPS) fprintf(out, ", all allowed steps done");
    else if (r->stopped) fprintf(out, ", %s", stop_name(r->stopped));
    if (r->refined > 0) fprintf(out, ", backward error %.2g before", r->omega_before);
    if (r->incomplete) fprintf(out, " (x = M^-1 b, then x += M^-1 (b - A x))");
    fprintf(out, "\n");
}

static void print_error(FILE *out, const report *r)
{
    if (!isfinite(r->error.omega)) {
        fprintf(out, "error      %s\n", r->failure);
        return;
    }
    fprintf(out, "error      backward %.2g (componentwise), %.2g (normwise)", r->error.omega,
            r->error.normwise);
    if (r->problem->exact) fprintf(out, ", forward %.2g", r->forward);
    fprintf(out, "\n");
}

static void print_condition(FILE *out, const report *r)
{
    const bool cond = r->args->cond;
    if (cond && r->incomplete) fprintf(out, "condition  not known from incomplete factors\n");
    if (!r->estimated) return;
    fprintf(out, "condition  %s %.*e in the 1-norm", cond ? "estimate" : "at least", cond ? 2 : 1,
            1 / r->condition);
    if (is_singular(r)) fprintf(out, ": singular to working precision\n");
    else fprintf(out, r->condition < 1e-12 ? ": x may have few correct digits\n" : "\n");
}

/* |det| with ten digits, also where it is beyond the range of a double. */
static void describe_size(char *text, size_t size, const trs_det *d)
{
    const long double power = (long double)d->exponent * log10l(2) + log10l(d->mantissa);
    long double tens = floorl(power), digits = powl(10, power - tens);
    if (d->mantissa == 0 || fabsl(power) < 300) {
        snprintf(text, size, "%.10g", ldexp(d->mantissa, (int)d->exponent));
        return;
    }
    if (digits >= 9.9999999995L) digits = 1, tens += 1; /* which would be printed as 10 */
    snprintf(text, size, "%.10Lge%+.0Lf", digits, tens);
}

static void print_determinant(FILE *out, const report *r)
{
    const trs_dtype t = r->problem->A.dtype;
    const trs_det *d = &r->det;
    char text[64];
    if (!r->args->det) return;
    describe_size(text, sizeof text, d);
    if (t == TRS_C64 || t == TRS_C32)
        fprintf(out, "det        %s (%.10g %+.10gi)\n", text, d->re, d->im);
    else fprintf(out, "det        %s%s\n", d->re < 0 ? "-" : "", text);
}

static void print_times(FILE *out, const report *r)
{
    char t[3][32];
    fprintf(out, "time       read %s", duration(t[0], sizeof t[0], r->seconds_read));
    if (!r->planless)
        fprintf(out, ", analysis %s (levels %s%s%s)",
                duration(t[1], sizeof t[1], r->seconds_analyse),
                duration(t[2], sizeof t[2], r->l.seconds_levels + r->u.seconds_levels),
                *r->l.analysis ? ": " : "", r->l.analysis);
    fputc('\n', out);
    fprintf(out, "solve      min %s, median %s, max %s of %d\n",
            duration(t[0], sizeof t[0], r->solve.min), duration(t[1], sizeof t[1], r->solve.median),
            duration(t[2], sizeof t[2], r->solve.max), r->solve.count);
}

void print_interrupted(const report *r)
{
    FILE *out = report_stream(r);
    fprintf(stderr, "%s: interrupted\n", program_name);
    if (r->args->quiet || r->args->json) return;
    if (r->problem->file.val) print_file(out, r);
    fprintf(out, "time       ");
    progress_print(out);
    fprintf(out, "\n");
}

static void print_sweeps(FILE *out, const report *r)
{
    const int count = r->args->sweeps;
    if (!count) return;
    fprintf(out, "           %d %s: error at most %.2g of the largest number of L^-1 b", count,
            trs_noun(count, "sweep", "sweeps"), r->l.sweep_error);
    if (r->has_u) fprintf(out, ", %.2g of U^-1 b", r->u.sweep_error);
    fprintf(out, "\n");
}

void print_text(const report *r)
{
    FILE *out = report_stream(r);
    char t[32];
    print_file(out, r);
    print_problem(out, r);
    if (r->factored) {
        fprintf(out, "factor     %s, ordering %s, %s\n", r->library, r->ordering,
                duration(t, sizeof t, r->seconds_factor));
        print_levels(out, "L", &r->l);
        if (r->has_u) print_levels(out, "U", &r->u);
    }
    fprintf(out, "solver     %s\n           %s\n", r->solver, r->reason);
    print_sweeps(out, r);
    if (!r->planless) fprintf(out, "costs      %s\n", r->costs);
    print_times(out, r);
    if (r->pivots)
        fprintf(out,
                "pivots     %" PRId64 " zero, missing or not finite, the first in row %" PRId64
                ": %s, excluded from the error\n",
                r->pivots, r->first_pivot, r->args->pivot == TRS_PIVOT_SKIP ? "x = 0" : "replaced");
    print_krylov(out, r);
    print_steps(out, r);
    print_refinement(out, r);
    print_error(out, r);
    print_condition(out, r);
    print_determinant(out, r);
    if (r->args->output && !r->steps.failed)
        fprintf(out, "x          written to %s\n", r->args->output);
}
