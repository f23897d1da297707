/* submatrix.c: takes some rows and columns of a triangle: threads count their entries, then write them. */
#include "config.h"

#include "submatrix.h"

#include "base/parallel.h"

typedef struct picking {
    const trs_tri *t;
    const trs_pick *pick;
    trs_picked *to;
    bool write;
} picking;

static void pick_some(void *user, int64_t begin, int64_t end)
{
    const picking *k = user;
    const trs_pick *pick = k->pick;
    for (int64_t i = begin; i < end; i++) {
        const int32_t row = pick->row[pick->begin + i];
        int64_t q = k->write ? k->to->ptr[i] : 0;
        for (int64_t p = k->t->ptr[row]; p < k->t->ptr[row + 1]; p++) {
            const int32_t column = pick->number[k->t->idx[p]];
            if (column < pick->first || column >= pick->last) continue;
            if (k->write) {
                k->to->idx[q] = column - pick->first;
                k->to->src[q] = p;
            }
            q++;
        }
        if (!k->write) k->to->ptr[i + 1] = q;
    }
}

int trs_pick_rows(trs_context *ctx, const trs_tri *t, const trs_pick *pick, trs_picked *to)
{
    picking k = {t, pick, to, false};
    const int team = trs_team(ctx, t->nnz);
    const int64_t n = pick->end - pick->begin, each = 1 + n / 64;
    *to = (trs_picked){trs_new(ctx, n + 1, sizeof *to->ptr, "picked rows"), NULL, NULL};
    if (!to->ptr) return TRS_EMEM;
    to->ptr[0] = 0;
    trs_share(team, n, each, pick_some, &k);
    for (int64_t i = 0; i < n; i++) to->ptr[i + 1] += to->ptr[i];
    to->idx = trs_new_touched(ctx, to->ptr[n], sizeof *to->idx, "picked columns");
    to->src = trs_new_touched(ctx, to->ptr[n], sizeof *to->src, "picked entries");
    if (!to->idx || !to->src) return TRS_EMEM;
    k.write = true;
    trs_share(team, n, each, pick_some, &k);
    return TRS_OK;
}

void trs_picked_free(trs_context *ctx, trs_picked *a)
{
    trs_free(&ctx->mem, a->ptr);
    trs_free(&ctx->mem, a->idx);
    trs_free(&ctx->mem, a->src);
}
