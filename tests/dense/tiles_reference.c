/* tiles_reference.c: the sequential reference of dense-blocked: inverted and scaled tiles of 64x64 (tiles.cuh),
 *
 *     x_t = sum of M_ts b_s, f <= s <= t  -  sum of S_ts x_s, s < f */
#include "tiles_reference.h"

#include <math.h>

enum { B = 64, PANEL = 4, TILE = B * B, MOST = 16 /* rows of tiles */ };
static const double WORST = 1e4; /* as in blocks.cuh */

typedef struct tiles {
    int nt;
    double (*S)[TILE]; /* [nt*(nt+1)/2] row after row; on the diagonal M_tt or L_tt */
    double (*M)[TILE]; /* [nt*PANEL] M_ts left of the diagonal */
    bool split[MOST], substituted[MOST]; /* [panels], [nt] */
} tiles;

static double *tile(const tiles *d, int t, int s)
{
    return d->S[t * (t + 1) / 2 + s];
}

static double *joined(const tiles *d, int t, int s)
{
    return s == t ? tile(d, t, t) : d->M[t * PANEL + s % PANEL];
}

/* c += sign a b */
static void add_product(double *c, double sign, const double *a, const double *b)
{
    for (int i = 0; i < B; i++)
        for (int k = 0; k < B; k++)
            for (int j = 0; a[i * B + k] != 0 && j < B; j++)
                c[i * B + j] += sign * a[i * B + k] * b[k * B + j];
}

/* The largest row sum of |M| |D| in row t of tiles. */
static double growth(const tiles *d, const tiles *L, int f, int t)
{
    double most = 0;
    for (int i = 0; i < B; i++) {
        double sum = 0;
        for (int p = f * B; p < (t + 1) * B; p++)
            for (int q = f * B; q <= p; q++)
                sum += fabs(joined(d, t, p / B)[i * B + p % B] *
                            tile(L, p / B, q / B)[p % B * B + q % B]);
        most = larger(most, sum);
    }
    return most;
}

/* M_tt = L_tt^-1, by columns. */
static void invert(const double *l, double *m)
{
    memset(m, 0, TILE * sizeof *m);
    for (int j = 0; j < B; j++)
        for (int i = j; i < B; i++) {
            double s = i == j;
            for (int k = j; k < i; k++) s -= l[i * B + k] * m[k * B + j];
            m[i * B + j] = s / l[i * B + i];
        }
}

/* M of panel f .. end-1 from L, and whether it grows too much. */
static void make_panel(tiles *d, const tiles *L, int f, int end)
{
    bool split = false;
    for (int t = f; t < end; t++) {
        invert(tile(L, t, t), tile(d, t, t));
        d->substituted[t] = !(growth(d, L, t, t) <= WORST);
        if (d->substituted[t]) memcpy(tile(d, t, t), tile(L, t, t), sizeof *d->S);
        split = split || d->substituted[t];
    }
    for (int t = f; t < end && !split; t++) {
        for (int s = f; s < t; s++) { /* M_ts = -M_tt (sum of L_tu M_us) */
            double sum[TILE] = {0};
            for (int u = s; u < t; u++) add_product(sum, 1, tile(L, t, u), joined(d, u, s));
            memset(joined(d, t, s), 0, sizeof sum);
            add_product(joined(d, t, s), -1, tile(d, t, t), sum);
        }
        split = !(growth(d, L, f, t) <= WORST);
    }
    d->split[f / PANEL] = split;
}

/* S_ts = sum of M_tu L_us, from the last row of the panel up. */
static void scale_panel(tiles *d, const tiles *L, int f, int end)
{
    for (int t = f; t < end; t++) {
        const int first = d->split[f / PANEL] ? t : f;
        for (int s = 0; s < first && !d->substituted[t]; s++) {
            memset(tile(d, t, s), 0, sizeof *d->S);
            for (int u = first; u <= t; u++)
                add_product(tile(d, t, s), 1, joined(d, t, u), tile(L, u, s));
        }
    }
}

static double dot(const double *a, const double *x, int count)
{
    double sum = 0;
    for (int k = 0; k < count; k++) sum += a[k] * x[k];
    return sum;
}

static void solve(const tiles *d, const double *b, double *x)
{
    for (int row = 0; row < d->nt * B; row++) {
        const int t = row / B, i = row % B, f = d->split[t / PANEL] ? t : t / PANEL * PANEL;
        const double *l = tile(d, t, t) + i * B; /* if it is substituted */
        x[row] = d->substituted[t] ? b[row] - dot(l, x + t * B, i) : 0;
        for (int s = f; s <= t && !d->substituted[t]; s++)
            x[row] += dot(joined(d, t, s) + i * B, b + s * B, B);
        for (int s = 0; s < f; s++) x[row] -= dot(tile(d, t, s) + i * B, x + s * B, B);
        if (d->substituted[t]) x[row] /= l[i];
    }
}

static tiles tiles_new(const trs_tri *L)
{
    tiles d = {.nt = (L->n + B - 1) / B};
    assert_true(d.nt <= MOST);
    assert_non_null(d.S = calloc(MOST * (MOST + PANEL), sizeof *d.S));
    d.M = d.S + MOST * MOST;
    for (int i = L->n; i < d.nt * B; i++) tile(&d, i / B, i / B)[i % B * (B + 1)] = 1;
    for (int i = 0; i < L->n; i++)
        for (int64_t p = L->ptr[i]; p < L->ptr[i + 1]; p++)
            tile(&d, i / B, L->idx[p] / B)[i % B * B + L->idx[p] % B] = ((double *)L->val)[p];
    return d;
}

int solve_by_tiles(const trs_tri *t, const double *b, double *x, int *split)
{
    tiles L = tiles_new(t), d = tiles_new(t);
    double padded_b[MOST * B] = {0}, padded_x[MOST * B];
    int substituted = *split = 0;
    for (int i = 0; i < t->n; i++) padded_b[i] = b[i];
    for (int f = 0; f < d.nt; f += PANEL) {
        const int end = f + PANEL < d.nt ? f + PANEL : d.nt;
        make_panel(&d, &L, f, end);
        scale_panel(&d, &L, f, end);
        *split += d.split[f / PANEL];
        for (int k = f; k < end; k++) substituted += d.substituted[k];
    }
    solve(&d, padded_b, padded_x);
    for (int i = 0; i < t->n; i++) x[i] = padded_x[i];
    free(L.S);
    free(d.S);
    return substituted;
}
