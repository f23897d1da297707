/* columns.c: the columns of CSV and JSON: one list, so that both say the same. */
#include "config.h"

#include "columns.h"
#include "text.h"

#include "base/debug.h"
#include "bin/common/numbers.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- fields ---------------------------------------------------------------------------------- */

static void put_field(row *to, const field one)
{
    TRS_ASSERT(to->count < MOST_FIELDS);
    to->field[to->count++] = one;
}

static void put_text(row *to, const char *column, const char *text)
{
    put_field(to, (field){.column = column, .text = text});
}

static void put_whole(row *to, const char *column, int64_t whole)
{
    put_field(to, (field){.column = column, .is_whole = true, .whole = whole});
}

static void put_real(row *to, const char *column, double real)
{
    put_field(to, (field){.column = column, .real = real});
}

/* A time that is 0 was not measured. */
static void put_seconds(row *to, const char *column, double seconds)
{
    put_real(to, column, seconds > 0 ? seconds : (double)NAN);
}

/* ---- of a cell ------------------------------------------------------------------------------- */

/* A value that was measured; NaN where the cell failed before. */
static double known(const cell *c, double value)
{
    return c->status || !c->solve.count ? (double)NAN : value;
}

/* The group of a matrix of the SuiteSparse collection is the folder of its archive, or, of an
 * unpacked matrix, the folder around the one that is called like the matrix: GROUP/NAME.tar.gz,
 * GROUP/NAME/NAME.mtx. */
static void put_group(const result *r, row *to)
{
    const char *end = r->file ? strrchr(r->file, '/') : NULL;
    for (int up = 0; end && up < 2; up++) {
        const char *from = end;
        while (from > r->file && from[-1] != '/') from--;
        const size_t length = (size_t)(end - from);
        snprintf(to->group, sizeof to->group, "%.*s", (int)length, from);
        const bool same = length && !strncmp(strrchr(r->file, '/') + 1, to->group, length);
        if (!same || from == r->file) break;
        end = from - 1;
    }
    put_text(to, "group", to->group);
}

static void put_matrix(const settings *s, const result *r, row *to)
{
    put_text(to, "matrix", r->name);
    put_group(r, to);
    put_text(to, "kind", r->problem);
    put_text(to, "triangle", kind_name(r->kind));
    put_text(to, "type", dtype_name(r->dtype));
    put_text(to, "op", op_name(s->op));
    put_whole(to, "nrhs", s->nrhs);
    put_whole(to, "n", r->n);
    put_whole(to, "nnz", r->nnz);
    put_whole(to, "levels", r->levels);
    put_whole(to, "widest", r->widest);
    put_whole(to, "longest", r->longest);
    put_seconds(to, "levels_by_rows", r->sweep);
    put_seconds(to, "levels_by_columns", r->sort);
}

/* What the solver runs on, where it finds B and X, and whether it stores a full matrix. */
static void put_place(const settings *s, const cell *c, row *to)
{
    const bool known = c->solver.name, cuda = known && !strcmp(c->solver.needs, "cuda");
    put_text(to, "needs", known ? c->solver.needs : "");
    put_text(to, "place", cuda && in_device_memory(s) ? "device" : "host");
    put_whole(to, "full", c->solver.full);
}

static void put_times(const settings *s, const result *r, const cell *c, row *to)
{
    const bound b = bound_of(r, c, s->nrhs);
    put_real(to, "create", known(c, c->info.seconds_create));
    put_whole(to, "plans", c->analysis.count);
    put_real(to, "analysis", known(c, c->analysis.median));
    put_real(to, "analysis_spread", known(c, relative_spread(&c->analysis)));
    put_text(to, "levels_by", c->levels_by);
    put_real(to, "setup", known(c, c->setup.median));
    put_real(to, "setup_spread", known(c, relative_spread(&c->setup)));
    put_whole(to, "updates", c->update.count);
    put_real(to, "update", known(c, c->update.median));
    put_real(to, "update_spread", known(c, relative_spread(&c->update)));
    put_real(to, "factor", c->factor > 0 ? known(c, c->factor) : (double)NAN);
    put_real(to, "solve_first", known(c, c->first.median));
    put_whole(to, "solves", c->solve.count);
    put_real(to, "solve_min", known(c, c->solve.min));
    put_real(to, "solve", known(c, c->solve.median));
    put_real(to, "solve_spread", known(c, relative_spread(&c->solve)));
    put_real(to, "solve_max", known(c, c->solve.max));
    put_whole(to, "passes", c->passes);
    put_whole(to, "steady", c->steady);
    put_real(to, "rate", known(c, b.rate));
    put_real(to, "floor_memory", known(c, b.memory));
    put_real(to, "floor_levels", known(c, b.levels));
    put_real(to, "solve_over_floor", known(c, b.ratio));
    put_real(to, "total", known(c, total(c)));
    put_real(to, "total_over_multiblock", over_total(r, c, "cuda-multiblock"));
    put_real(to, "solve_over_cusparse", over_solve(r, c, "cusparse"));
    put_real(to, "solve_over_serial", over_solve(r, c, "cpu-serial"));
    put_real(to, "predicted", known(c, c->info.predicted));
}

static void put_growing(const growing *g, row *to)
{
    put_seconds(to, "plan_prepare", g->prepare);
    put_whole(to, "plan_grows_at", g->grows_at);
    put_seconds(to, "plan_first", g->first);
    put_seconds(to, "plan_growth", g->growth);
    put_seconds(to, "plan_grown", g->grown);
}

static const char *accuracy_name(const cell *c)
{
    return promises_normwise(c) ? "inverting" : "substitution";
}

static const char *outcome_name(const cell *c)
{
    if (c->status || !c->solve.count) return "refused";
    return c->accurate ? "good" : "inaccurate";
}

static void put_outcome(const result *r, const cell *c, row *to)
{
    put_text(to, "accuracy", c->solver.name ? accuracy_name(c) : "");
    put_real(to, "omega", known(c, c->error.omega));
    put_real(to, "normwise", known(c, c->error.normwise));
    put_text(to, "outcome", outcome_name(c));
    put_text(to, "message", *r->trouble ? r->trouble : c->message);
    put_whole(to, "bytes_host", c->info.bytes_host);
    put_whole(to, "bytes_device", c->info.bytes_device);
    put_whole(to, "bytes_work", c->info.bytes_work);
}

/* ---- of a file, with --io -------------------------------------------------------------------- */

static void put_file(const result *r, row *to)
{
    const io_figures *f = &r->io;
    put_text(to, "matrix", r->name);
    put_text(to, "type", dtype_name(r->dtype));
    put_whole(to, "rows", r->n);
    put_whole(to, "nnz", r->nnz);
    put_whole(to, "runs", f->runs);
    put_whole(to, "bytes_file", f->packed);
    put_whole(to, "bytes_text", f->bytes);
    put_whole(to, "bytes_written", f->written);
    put_seconds(to, "read", f->total);
    put_seconds(to, "parse", f->parse);
    put_seconds(to, "build", f->build);
    put_seconds(to, "write", f->write);
    put_real(to, "read_rate", megabytes_a_second(f->bytes, f->total));
    put_real(to, "parse_rate", megabytes_a_second(f->bytes, f->parse));
    put_real(to, "build_rate", megabytes_a_second(f->bytes, f->build));
    put_real(to, "write_rate", megabytes_a_second(f->written, f->write));
    put_text(to, "message", r->trouble);
}

/* ---- rows ------------------------------------------------------------------------------------ */

static void put_cell(const session *s, const result *r, const cell *c, row *to)
{
    put_matrix(&s->settings, r, to);
    put_text(to, "solver", c->solver.name ? c->solver.name : "");
    put_whole(to, "auto_host", c->auto_host);
    put_whole(to, "auto_device", c->auto_device);
    put_whole(to, "block", c->block);
    put_times(&s->settings, r, c, to);
    put_growing(&r->growing, to);
    put_seconds(to, "alloc", r->alloc);
    put_seconds(to, "copy", r->copy);
    put_outcome(r, c, to);
    put_place(&s->settings, c, to);
}

int rows_of(const result *r)
{
    return *r->trouble ? 1 : r->count;
}

/* The facts of the run are the same in every row. */
static void put_facts(const host *h, row *to)
{
    put_whole(to, "threads", h->threads);
    put_text(to, "cpu", h->cpu);
    put_text(to, "clock", h->clock);
    put_text(to, "os", h->os);
    put_text(to, "blas", h->blas);
    put_text(to, "command", h->command);
    put_text(to, "compiler", built_by);
    put_text(to, "commit", built_commit);
    put_text(to, "version", trs_version());
    put_text(to, "date", h->date);
}

void make_row(const session *s, const result *r, int k, row *to)
{
    static const cell none = {0};
    const host *h = &s->host;
    const bool io = s->settings.io;
    TRS_ASSERT(k >= 0 && k < rows_of(r));
    to->count = 0;
    to->group[0] = '\0';
    if (io) put_file(r, to);
    else put_cell(s, r, *r->trouble ? &none : &r->cells[k], to);
    if (!io) {
        put_text(to, "gpu", h->gpu);
        put_text(to, "driver", h->driver);
        put_text(to, "costs", r->costs);
        put_whole(to, "seed", SEED);
        put_real(to, "load_before", r->load[0]);
        put_real(to, "load_after", r->load[1]);
    }
    put_facts(h, to);
    if (!io) put_text(to, "file", r->file ? r->file : "");
}
