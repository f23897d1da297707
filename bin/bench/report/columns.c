/* columns.c: the columns of CSV and JSON: one list, so that both say the same. */
#include "config.h"

#include "columns.h"
#include "text.h"

#include "base/debug.h"
#include "bin/common/numbers.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- of a cell ------------------------------------------------------------------------------- */

/* A value that was measured; NaN where the cell failed before. */
static double known(const cell *c, double value)
{
    return c->status || !c->solve.count ? (double)NAN : value;
}

/* The group of a matrix of the SuiteSparse collection is the folder of its archive, or, of an
 * unpacked matrix, the folder around the one that is called like the matrix: GROUP/NAME.tar.gz,
 * GROUP/NAME/NAME.mtx. */
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

static const char *accuracy_name(const cell *c)
{
    return promises_normwise(c) ? "inverting" : "substitution";
}

static const char *outcome_name(const cell *c)
{
    if (c->status || !c->solve.count) return "refused";
    return c->accurate ? "good" : "inaccurate";
}

static void put_outcome(const result *r, const cell *c, const sink *to)
{
    to->text(to->user, "accuracy", c->solver.name ? accuracy_name(c) : "");
    to->real(to->user, "omega", known(c, c->error.omega));
    to->real(to->user, "normwise", known(c, c->error.normwise));
    to->text(to->user, "outcome", outcome_name(c));
    to->text(to->user, "message", *r->trouble ? r->trouble : c->message);
    to->whole(to->user, "bytes_host", c->info.bytes_host);
    to->whole(to->user, "bytes_device", c->info.bytes_device);
    to->whole(to->user, "bytes_work", c->info.bytes_work);
}

/* ---- of a file, with --io -------------------------------------------------------------------- */

static void put_file(const result *r, const sink *to)
{
    static const io_figures none = {0};
    const io_figures *f = r->io && !*r->trouble ? r->io : &none;
    to->text(to->user, "matrix", r->name);
    to->text(to->user, "type", dtype_name(r->dtype));
    to->whole(to->user, "rows", r->n);
    to->whole(to->user, "nnz", r->nnz);
    to->whole(to->user, "runs", f->runs);
    to->whole(to->user, "bytes_file", f->packed);
    to->whole(to->user, "bytes_text", f->bytes);
    to->whole(to->user, "bytes_written", f->written);
    to->real(to->user, "read", f->runs ? f->total : (double)NAN);
    to->real(to->user, "parse", f->runs ? f->parse : (double)NAN);
    to->real(to->user, "build", f->runs ? f->build : (double)NAN);
    to->real(to->user, "write", f->runs ? f->write : (double)NAN);
    to->real(to->user, "read_rate", megabytes_a_second(f->bytes, f->total));
    to->real(to->user, "parse_rate", megabytes_a_second(f->bytes, f->parse));
    to->real(to->user, "build_rate", megabytes_a_second(f->bytes, f->build));
    to->real(to->user, "write_rate", megabytes_a_second(f->written, f->write));
    to->text(to->user, "message", r->trouble);
}

/* ---- rows ------------------------------------------------------------------------------------ */

static void put_cell(const session *s, const result *r, const cell *c, const sink *to)
{
    put_matrix(&s->settings, r, to);
    to->text(to->user, "solver", c->solver.name ? c->solver.name : "");
    to->whole(to->user, "auto_host", c->auto_host);
    to->whole(to->user, "auto_device", c->auto_device);
    to->whole(to->user, "block", c->block);
    put_times(r, c, to);
    to->real(to->user, "alloc", r->alloc > 0 ? r->alloc : (double)NAN);
    to->real(to->user, "copy", r->copy > 0 ? r->copy : (double)NAN);
    put_outcome(r, c, to);
}

int rows_of(const result *r)
{
    return *r->trouble ? 1 : r->count;
}

void put_row(const session *s, const result *r, int k, const sink *to)
{
    static const cell none = {0};
    const host *h = &s->host;
    const bool io = s->settings.io;
    TRS_ASSERT(k >= 0 && k < rows_of(r));
    if (io) put_file(r, to);
    else put_cell(s, r, *r->trouble ? &none : &r->cells[k], to);
    to->whole(to->user, "threads", h->threads);
    to->text(to->user, "cpu", h->cpu);
    if (!io) {
        to->text(to->user, "gpu", h->gpu);
        to->text(to->user, "driver", h->driver);
        to->text(to->user, "costs", r->costs);
        to->whole(to->user, "seed", SEED);
    }
    to->text(to->user, "version", trs_version());
    to->text(to->user, "date", h->date);
    if (!io) to->text(to->user, "file", r->file ? r->file : "");
}
