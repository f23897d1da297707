/* run_length.c: the run-length pattern is made in one pass over the entries, since several later passes look at the
 * pattern and then read runs in place of entries. */
#include "config.h"

#include "run_length.h"

#include "matrix/matrix.h"
#include "base/debug.h"
#include "base/parallel.h"

#include <string.h>

enum {
    ROWS_A_CLAIM = 256, /* rows that a thread claims at a time */
    STRIDE = 8          /* entries that are passed over at a time inside a run */
};

typedef struct build {
    const trs_tri *t;
    trs_run_pattern *pattern;
    atomic_bool failed;
} build;

/* Is the pattern of row i that of the row before plus its own diagonal? */
static bool continues(const trs_tri *t, int32_t i)
{
    const int64_t q = t->ptr[i], p = i > 0 ? t->ptr[i - 1] : q, length = q - p;
    return i > 0 && t->ptr[i + 1] - q == length + 1 &&
           !memcmp(t->idx + p, t->idx + q, (size_t)length * sizeof *t->idx);
}

/* The column differs from the next one.  Several threads may write this, all of them the same value. */
static void mark(trs_run_pattern *p, int32_t column)
{
    _Atomic uint8_t *at = p->differ + column;
    if (column >= 0 && !atomic_load_explicit(at, memory_order_relaxed))
        atomic_store_explicit(at, 1, memory_order_relaxed);
}

/* Where a run begins or ends, the row has an entry in one of two neighbouring columns alone, so that these columns
 * have different patterns.  A row that shares the runs of the row before would mark the same columns again. */
static bool write_runs(build *b, trs_arena *arena, int32_t i)
{
    const int32_t *p = b->t->idx + b->t->ptr[i], *last = b->t->idx + b->t->ptr[i + 1] - 1;
    trs_run_row *row = &b->pattern->row[i];
    row->runs = 0;
    for (int32_t begin = *p; p <= last; p++) {
        while (last - p >= STRIDE && p[STRIDE] == *p + STRIDE) p += STRIDE;
        if (p < last && p[1] == *p + 1) continue;
        trs_run *run = trs_arena_more(arena, row->runs);
        if (!run) return false;
        run[row->runs++] = (trs_run){begin, *p + 1};
        mark(b->pattern, begin - 1);
        if (p == last) break;
        mark(b->pattern, *p);
        begin = p[1];
    }
    row->run = trs_arena_keep(arena, row->runs);
    TRS_ASSERT(row->run[row->runs - 1].end == i + 1);
    return true;
}

/* The first row that a thread claims writes its own runs, since those of the row before may not be there yet. */
static void encode_rows(void *user, int thread, int32_t begin, int32_t end)
{
    build *b = user;
    for (int32_t i = begin; i < end && !b->failed; i++) {
        trs_run_row *row = &b->pattern->row[i];
        row->same = continues(b->t, i);
        if (row->same && i > begin) *row = (trs_run_row){row[-1].run, row[-1].runs, true};
        else if (!write_runs(b, &b->pattern->arena[thread], i)) b->failed = true;
    }
}

int trs_run_pattern_make(trs_context *ctx, const trs_tri *t, trs_run_pattern *p)
{
    build b = {.t = t, .pattern = p};
    const trs_level_stage all = {0, t->n, t->n / ROWS_A_CLAIM + 1};
    trs_stage_progress progress[2];
    *p = (trs_run_pattern){
        .n = t->n, .entries = t->nnz, .ptr = t->ptr, .threads = trs_team_with_memory(ctx, t->nnz)};
    p->row = trs_new_touched(ctx, t->n, sizeof *p->row, "rows by runs of columns");
    p->arena = trs_alloc_zero(&ctx->mem, p->threads, sizeof *p->arena);
    p->differ = trs_alloc_zero(&ctx->mem, t->n, sizeof *p->differ);
    if (!p->row || !p->arena || !p->differ)
        return trs_fail(TRS_EMEM, "out of memory for runs of columns");
    for (int k = 0; k < p->threads; k++)
        p->arena[k] = (trs_arena){.mem = &ctx->mem, .size = sizeof(trs_run), .most = t->nnz};
    trs_stages_run(&all, 1, progress, p->threads, encode_rows, &b);
    return b.failed ? trs_fail(TRS_EMEM, "out of memory for runs of columns") : TRS_OK;
}

int trs_run_pattern_fetch(const trs_operator *op, trs_run_pattern *p)
{
    trs_context *ctx = op->ctx;
    trs_device_runs *f = &p->fetched;
    *p = (trs_run_pattern){
        .n = op->tri.n, .entries = op->tri.nnz, .threads = trs_team_with_memory(ctx, op->tri.nnz)};
    p->row = trs_new_touched(ctx, p->n, sizeof *p->row, "rows by runs of columns");
    const int rc = p->row ? trs_gpu_runs(op, f) : TRS_EMEM;
    if (rc) return rc;
    p->ptr = f->ptr;
    p->differ = (_Atomic uint8_t *)f->differ;
    const trs_run *run = f->run;
    for (int32_t i = 0; i < p->n; run += f->own[i++])
        p->row[i] = f->own[i] ? (trs_run_row){run, f->own[i], false}
                              : (trs_run_row){p->row[i - 1].run, p->row[i - 1].runs, true};
    return TRS_OK;
}

void trs_run_pattern_free(trs_context *ctx, trs_run_pattern *p)
{
    trs_device_runs *f = &p->fetched;
    void *const fetched[] = {f->ptr, f->own, f->run};
    if (!p->differ) p->differ = (_Atomic uint8_t *)f->differ;
    for (size_t k = 0; k < sizeof fetched / sizeof fetched[0]; k++) trs_free(&ctx->mem, fetched[k]);
    for (int k = 0; p->arena && k < p->threads; k++) trs_arena_free(&p->arena[k]);
    trs_free(&ctx->mem, p->arena);
    trs_free(&ctx->mem, (void *)p->differ);
    trs_free(&ctx->mem, p->row);
    *p = (trs_run_pattern){0};
}
