/* supernodal_reference.c: what cuda-supernodal computes, by the same data structure (supernodes.h) and sequentially.
 *
 *     update:  M = D^-1;  S = M L (., late columns)         D: the diagonal block of a chain, or of a supernode alone
 *     solve:   the tasks in their order; what a task needs is NaN until the task that publishes it has been there */
#include "supernodal_reference.h"
#include <string.h>

/* Entry (i, k) of a packed panel, i counting its own rows. */
static int64_t place(const trs_panel *p, int i, int k)
{
    return p->offset + (int64_t)(k / 4) * 4 * __builtin_popcountll(p->row_mask) + i * 4 + k % 4;
}

static double entry(const trs_tri *L, int32_t i, int32_t j)
{
    int64_t p = L->ptr[i], end = L->ptr[i + 1];
    while (p + 1 < end) {
        const int64_t middle = (p + end) / 2;
        if (L->idx[middle] <= j) p = middle;
        else end = middle;
    }
    return L->idx[p] == j ? ((const double *)L->val)[p] : 0;
}

static void fill(const trs_tri *L, const trs_supernodes *s, const trs_panel *p, double *stored)
{
    const int32_t first = s->supernode[p->supernode].first;
    for (int row = 0, i = 0; row < TRS_SUPERNODE; row++) {
        if (!(p->row_mask >> row & 1)) continue;
        for (int k = 0; k < p->columns; k++)
            stored[place(p, i, k)] = entry(L, first + row, s->column[p->column + k]);
        i++;
    }
}

/* Panel q of supernode t, from its rows of D on, then its late ones; NULL: it is above the diagonal of D. */
static const trs_panel *panel_of(const trs_supernodes *s, const trs_supernode *t, int q)
{
    if (q >= t->chain_length) return &s->panel[t->diagonal + 1 + q - t->chain_length];
    return q <= t->chain_place ? &s->panel[t->diagonal - t->chain_place + q] : NULL;
}

enum { MOST = TRS_CHAIN * TRS_SUPERNODE }; /* rows of D */

/* Column c of panel q of a chain from t on becomes D^-1 times what it is: of D a column of the identity. */
static void invert_column(const double (*D)[MOST], const trs_supernodes *s, const trs_supernode *t,
                          int q, int c, double *stored)
{
    const trs_supernode *end = t + t->chain_length;
    double v[MOST] = {0};
    if (q < t->chain_length) v[t[q].first - t->first + c] = 1;
    for (const trs_supernode *u = t; u < end && q >= t->chain_length; u++)
        for (int i = 0; i < u->rows; i++)
            v[u->first - t->first + i] = stored[place(panel_of(s, u, q), i, c)];
    for (int i = 0; i < end[-1].first + end[-1].rows - t->first; i++) {
        for (int j = 0; j < i; j++) v[i] -= D[i][j] * v[j];
        v[i] /= D[i][i];
    }
    for (const trs_supernode *u = t; u < end; u++)
        for (int i = 0; i < u->rows && panel_of(s, u, q); i++)
            stored[place(panel_of(s, u, q), i, c)] = v[u->first - t->first + i];
}

void reference_update(const trs_tri *L, const trs_supernodes *s, double *stored)
{
    static double D[MOST][MOST];
    memset(stored, 0, (size_t)s->stored * sizeof *stored);
    for (int p = 0; p < s->panels; p++) fill(L, s, &s->panel[p], stored);
    for (const trs_supernode *t = s->supernode; t < s->supernode + s->count; t++) {
        const trs_supernode *last = t + t->chain_length - 1;
        if (t->chain_place > 0) continue;
        for (int i = 0; i < last->first + last->rows - t->first; i++)
            for (int j = 0; j <= i; j++) D[i][j] = entry(L, t->first + i, t->first + j);
        for (int q = 0; q < t->chain_length + t->panel + t->panels - t->diagonal - 1; q++)
            for (int c = 0; c < panel_of(s, last, q)->columns; c++)
                invert_column(D, s, t, q, c, stored);
    }
}

/* y += sign times panel times x, by columns of the panel, or of L (column not NULL). */
static void multiply(const trs_panel *p, const double *stored, double sign, const int32_t *column,
                     const double *x, double *y)
{
    for (int row = 0, i = 0; row < TRS_SUPERNODE; row++) {
        if (!(p->row_mask >> row & 1)) continue;
        for (int k = 0; k < p->columns; k++)
            y[row] += sign * stored[place(p, i, k)] * x[column ? column[p->column + k] : k];
        i++;
    }
}

/* y -= sum of panels from .. to-1 times x. */
static void subtract(const trs_supernodes *s, int from, int to, const double *stored,
                     const double *x, double *y)
{
    for (int p = from; p < to; p++) multiply(&s->panel[p], stored, -1, s->column, x, y);
}

/* y = b - panels from .. to-1 times x - partial sums. */
static void right_hand_side(const trs_supernodes *s, const trs_supernode *k, int from, int to,
                            const double *stored, const double *b, const double *x,
                            const double *partial, double *y)
{
    for (int i = 0; i < k->rows; i++) y[i] = b[k->first + i];
    subtract(s, from, to, stored, x, y);
    for (int p = k->partial; p < k->partial + k->partials; p++)
        for (int i = 0; i < k->rows; i++) y[i] += partial[p * TRS_SUPERNODE + i];
}

/* y = sum of M r - S x, r of the supernodes of the chain up to k; alone, its own right-hand side. */
static void apply(const trs_supernodes *s, const trs_supernode *k, const double *stored,
                  const double *r, const double *x, double *y)
{
    for (int u = 0; u <= k->chain_place; u++) {
        const trs_supernode *of = k - k->chain_place + u;
        const int64_t number = k->chain_length > 1 ? of->partial + of->partials : 0;
        multiply(panel_of(s, k, u), stored, 1, NULL, r + number * TRS_SUPERNODE, y);
    }
    subtract(s, k->diagonal + 1, k->panel + k->panels, stored, x, y);
}

static void run(const trs_supernodes *s, const trs_task *task, int t, const double *stored,
                const double *b, double *x, double *partial)
{
    const trs_supernode *k = &s->supernode[t];
    double r[TRS_SUPERNODE] = {0}, y[TRS_SUPERNODE] = {0}, *to = x + k->first;
    const int kind = task->kind, panels_end = task->panel + task->panels;
    const bool sliced = kind != TRS_TASK_PARTIAL_SUM && k->slices > 1;
    const int from = sliced ? task->slice * TRS_SLICE : 0;
    const int end = sliced && from + TRS_SLICE < k->rows ? from + TRS_SLICE : k->rows;
    if (kind == TRS_TASK_PARTIAL_SUM) { /* minus the sum */
        subtract(s, task->panel, panels_end, stored, x, y);
        to = partial + (int64_t)task->partial * TRS_SUPERNODE;
    } else if (kind == TRS_TASK_PARTIAL_RHS) {
        right_hand_side(s, k, task->panel, panels_end, stored, b, x, partial, y);
        to = partial + (int64_t)(k->partial + k->partials) * TRS_SUPERNODE;
    } else if (kind == TRS_TASK_CHAIN) apply(s, k, stored, partial, x, y);
    else {
        right_hand_side(s, k, k->panel, k->diagonal, stored, b, x, partial, r);
        apply(s, k, stored, r, x, y);
    }
    memcpy(to + from, y + from, (size_t)(end - from) * sizeof *y);
}

void reference_solve(const trs_supernodes *s, const double *stored, const double *b, double *x,
                     double *partial)
{
    for (const trs_task *task = s->task; task < s->task + s->tasks; task++)
        for (int k = 0; k < task->supernodes; k++)
            run(s, task, task->supernode + k, stored, b, x, partial);
}
