/* run_length.c: one pass over the entries, for whoever then looks at the pattern more than once: there are far
 * fewer runs than entries where supernodes are. */
#include "config.h"

#include "run_length.h"

#include "matrix/matrix.h"
#include "base/parallel.h"

#include <string.h>

enum { ROWS = 256, STEP = 8 };

typedef struct build {
    const trs_tri *t;
    trs_outline *o;
    atomic_bool failed;
} build;

/* Row i is the one before and its own diagonal. */
static bool continues(const trs_tri *t, int32_t i)
{
    const int64_t q = t->ptr[i], p = i > 0 ? t->ptr[i - 1] : q, length = q - p;
    return i > 0 && t->ptr[i + 1] - q == length + 1 &&
           !memcmp(t->idx + p, t->idx + q, (size_t)length * sizeof *t->idx);
}

/* Several threads write the same. */
static void mark(trs_outline *o, int32_t column)
{
    _Atomic uint8_t *at = o->differ + column;
    if (column >= 0 && !atomic_load_explicit(at, memory_order_relaxed))
        atomic_store_explicit(at, 1, memory_order_relaxed);
}

/* Columns on either side of where a run begins or ends have not one pattern.  A row that goes on as the one before
 * has the same runs. */
static bool write_runs(build *b, trs_arena *notes, int32_t i)
{
    const int32_t *p = b->t->idx + b->t->ptr[i], *last = b->t->idx + b->t->ptr[i + 1] - 1;
    trs_outline_row *row = &b->o->row[i];
    row->runs = 0;
    for (int32_t begin = *p; p <= last; p++) {
        while (last - p >= STEP && p[STEP] == *p + STEP) p += STEP;
        if (p < last && p[1] == *p + 1) continue;
        trs_run *run = trs_arena_more(notes, row->runs);
        if (!run) return false;
        run[row->runs++] = (trs_run){begin, *p + 1};
        mark(b->o, begin - 1);
        if (p == last) break;
        mark(b->o, *p);
        begin = p[1];
    }
    row->run = trs_arena_keep(notes, row->runs);
    return true;
}

static void outline_some(void *user, int thread, int32_t begin, int32_t end)
{
    build *b = user;
    for (int32_t i = begin; i < end && !b->failed; i++) {
        trs_outline_row *row = &b->o->row[i];
        row->same = continues(b->t, i);
        if (row->same && i > begin) *row = (trs_outline_row){row[-1].run, row[-1].runs, true};
        else if (!write_runs(b, &b->o->notes[thread], i)) b->failed = true;
    }
}

int trs_outline_make(trs_context *ctx, const trs_tri *t, trs_outline *o)
{
    build b = {.t = t, .o = o};
    const trs_level_stage all = {0, t->n, t->n / ROWS + 1};
    trs_stage_progress progress[2];
    *o = (trs_outline){
        .n = t->n, .entries = t->nnz, .ptr = t->ptr, .threads = trs_team_with_memory(ctx, t->nnz)};
    o->row = trs_new_touched(ctx, t->n, sizeof *o->row, "rows by runs of columns");
    o->notes = trs_alloc_zero(&ctx->mem, o->threads, sizeof *o->notes);
    o->differ = trs_alloc_zero(&ctx->mem, t->n, sizeof *o->differ);
    if (!o->row || !o->notes || !o->differ)
        return trs_fail(TRS_EMEM, "out of memory for runs of columns");
    for (int k = 0; k < o->threads; k++)
        o->notes[k] = (trs_arena){.mem = &ctx->mem, .size = sizeof(trs_run), .most = t->nnz};
    trs_stages_run(&all, 1, progress, o->threads, outline_some, &b);
    return b.failed ? trs_fail(TRS_EMEM, "out of memory for runs of columns") : TRS_OK;
}

void trs_outline_free(trs_context *ctx, trs_outline *o)
{
    for (int k = 0; o->notes && k < o->threads; k++) trs_arena_free(&o->notes[k]);
    trs_free(&ctx->mem, o->notes);
    trs_free(&ctx->mem, (void *)o->differ);
    trs_free(&ctx->mem, o->row);
    *o = (trs_outline){0};
}
