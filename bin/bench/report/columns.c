/* columns.c: the columns of CSV and JSON: one list, so that both say the same. */
#include "config.h"

#include "bin/bench/bench.h"

#include <math.h>
#include <string.h>

const char *dtype_name(trs_dtype t)
{
    static const char *const name[] = {
        [TRS_F64] = "f64", [TRS_F32] = "f32", [TRS_C64] = "c64", [TRS_C32] = "c32"};
    return name[t];
}

const char *op_name(trs_op op)
{
    static const char *const name[] = {[TRS_N] = "N", [TRS_T] = "T", [TRS_H] = "H"};
    return name[op];
}

const char *kind_name(unsigned kind)
{
    if (kind & TRS_UNIT) return kind & TRS_UPPER ? "unit upper" : "unit lower";
    return kind & TRS_UPPER ? "upper" : kind & TRS_LOWER ? "lower" : "general";
}

const char *number(char *text, size_t size, double v)
{
    if (isnan(v)) snprintf(text, size, "-");
    else if (v >= 1000) snprintf(text, size, "%.0f", v);
    else if (v >= 0.01) snprintf(text, size, "%.4g", v);
    else snprintf(text, size, "%.3g", v);
    return text;
}

char levels_mark(const cell *c)
{
    if (c->info.seconds_vendor > 0 || !*c->levels_by) return ' ';
    if (strstr(c->levels_by, "CSC")) return 'C';
    return strstr(c->levels_by, "device") ? 'D' : 'R';
}

/* NaN where the cell did not get there. */
static double known(const cell *c, double value)
{
    return c->status || !c->solve.count ? (double)NAN : value;
}

/* The folder that the file, or the folder named like it, is in: of the collection's archives and of
 * what is unpacked from them that is the group. */
static void put_group(const result *r, const sink *to)
{
    char group[256] = "";
    const char *end = r->file ? strrchr(r->file, '/') : NULL;
    for (int up = 0; end && up < 2; up++) {
        const char *from = end;
        while (from > r->file && from[-1] != '/') from--;
        const size_t length = (size_t)(end - from);
        snprintf(group, sizeof group, "%.*s", (int)length, from);
        const bool same = length && !strncmp(strrchr(r->file, '/') + 1, group, length);
        if (!same || from == r->file) break;
        end = from - 1;
    }
    to->text(to->user, "group", group);
}

static void put_matrix(const settings *s, const result *r, const sink *to)
{
    to->text(to->user, "matrix", r->name);
    put_group(r, to);
    to->text(to->user, "kind", r->problem);
    to->text(to->user, "triangle", kind_name(r->kind));
    to->text(to->user, "type", dtype_name(r->dtype));
    to->text(to->user, "op", op_name(s->op));
    to->whole(to->user, "nrhs", s->nrhs);
    to->whole(to->user, "n", r->n);
    to->whole(to->user, "nnz", r->nnz);
    to->whole(to->user, "levels", r->levels);
    to->whole(to->user, "widest", r->widest);
    to->whole(to->user, "longest", r->longest);
    to->real(to->user, "levels_by_rows", r->sweep > 0 ? r->sweep : (double)NAN);
    to->real(to->user, "levels_by_columns", r->sort > 0 ? r->sort : (double)NAN);
}

static void put_times(const result *r, const cell *c, const sink *to)
{
    to->real(to->user, "create", known(c, c->info.seconds_create));
    to->real(to->user, "analysis", known(c, c->analysis));
    to->text(to->user, "levels_by", c->levels_by);
    to->real(to->user, "setup", known(c, c->setup));
    to->real(to->user, "update", known(c, c->update));
    to->real(to->user, "factor", c->factor > 0 ? known(c, c->factor) : (double)NAN);
    to->whole(to->user, "solves", c->solve.count);
    to->real(to->user, "solve_min", known(c, c->solve.min));
    to->real(to->user, "solve", known(c, c->solve.median));
    to->real(to->user, "solve_max", known(c, c->solve.max));
    to->real(to->user, "total", known(c, total(c)));
    to->real(to->user, "total_over_multiblock", over_total(r, c, "cuda-multiblock"));
    to->real(to->user, "solve_over_cusparse", over_solve(r, c, "cusparse"));
    to->real(to->user, "solve_over_serial", over_solve(r, c, "cpu-serial"));
    to->real(to->user, "predicted", known(c, c->info.predicted));
}

static void put_outcome(const result *r, const cell *c, const sink *to)
{
    const bool measured = !c->status && c->solve.count;
    to->text(to->user, "accuracy",
             !c->solver.name                       ? ""
             : c->solver.accuracy == TRS_INVERTING ? "inverting"
                                                   : "substitution");
    to->real(to->user, "omega", known(c, c->error.omega));
    to->real(to->user, "normwise", known(c, c->error.normwise));
    to->text(to->user, "outcome", !measured ? "refused" : c->accurate ? "good" : "inaccurate");
    to->text(to->user, "message", *r->trouble ? r->trouble : c->message);
    to->whole(to->user, "bytes_host", c->info.bytes_host);
    to->whole(to->user, "bytes_device", c->info.bytes_device);
    to->whole(to->user, "bytes_work", c->info.bytes_work);
}

/* cell c of the result; the result's trouble goes with an empty cell. */
void put_columns(const settings *s, const host *h, const result *r, const cell *c, const sink *to)
{
    if (s->io) {
        put_io_columns(s, h, r, to);
        return;
    }
    put_matrix(s, r, to);
    to->text(to->user, "solver", c->solver.name ? c->solver.name : "");
    to->whole(to->user, "auto_host", c->auto_host);
    to->whole(to->user, "auto_device", c->auto_device);
    to->whole(to->user, "block", c->block);
    put_times(r, c, to);
    to->real(to->user, "alloc", r->alloc > 0 ? r->alloc : (double)NAN);
    to->real(to->user, "copy", r->copy > 0 ? r->copy : (double)NAN);
    put_outcome(r, c, to);
    to->whole(to->user, "threads", h->threads);
    to->text(to->user, "cpu", h->cpu);
    to->text(to->user, "gpu", h->gpu);
    to->text(to->user, "driver", h->driver);
    to->text(to->user, "costs", r->costs);
    to->whole(to->user, "seed", SEED);
    to->text(to->user, "version", trs_version());
    to->text(to->user, "date", h->date);
    to->text(to->user, "file", r->file ? r->file : "");
}
