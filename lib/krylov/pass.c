/* pass.c: passes on the host.  A thread takes a range of all vectors, which stays in its first cache. */
#ifndef T

#include "config.h"

#include "pass.h"
#include "base/context.h"
#include "base/debug.h"
#include "base/number/clones.h"
#include "base/parallel.h"

#define TRS_BODY "krylov/pass.c"
#include "base/each_type.h"

typedef struct passing {
    const trs_space *v;
    const trs_pass *p;
    /* sums of a range */
    int dots;
} passing;

/* Numbers begin.. of a vector. */
static void *part(const trs_space *v, const void *x, int64_t begin)
{
    return (char *)x + begin * (int64_t)trs_size(v->dtype);
}

static void update_range(const trs_space *v, const trs_update *u, int64_t begin, int64_t count)
{
    static void (*const scale[])(int64_t, trs_z, void *) = TRS_PER_TYPE(pass_scale);
    static void (*const clear[])(int64_t, void *) = TRS_PER_TYPE(pass_clear);
    static void (*const add[])(int64_t, const trs_z *, const void *, int64_t, void *) =
        TRS_PER_TYPE(pass_add);
    static void (*const four[])(int64_t, const trs_z *, const void *, int64_t, void *) =
        TRS_PER_TYPE(pass_add_four);
    const trs_z *s = v->scalars->s;
    const int vectors = u->x ? trs_count(u->count) : 0;
    void *y = part(v, u->y, begin);
    if (u->b == ZERO) clear[v->dtype](count, y);
    else if (u->b != ONE) scale[v->dtype](count, s[u->b], y);
    for (int k = 0, step; k < vectors; k += step) {
        trs_z a[4];
        const void *x = part(v, u->x, begin + k * v->ld);
        step = vectors - k < 4 ? 1 : 4;
        for (int i = 0; i < step; i++) a[i] = trs_scaled(u->minus ? -1 : 1, s[u->a + k + i]);
        (step == 4 ? four : add)[v->dtype](count, a, x, v->ld, y);
    }
}

/* sum[k] = x(k)'y over a range; with y2, sum[count+k] = x(k)'y2. */
static void dot_range(const trs_space *v, const trs_dot *d, const void *y2, int64_t begin,
                      int64_t count, trs_z *sum)
{
    static trs_z (*const dot[])(int64_t, const void *, const void *) = TRS_PER_TYPE(pass_dot);
    const int vectors = trs_count(d->count);
    const void *y = part(v, d->y, begin);
    if (y2) y2 = part(v, y2, begin);
    for (int k = 0; k < vectors; k++) {
        const void *x = part(v, d->x, begin + k * v->ld);
        sum[k] = dot[v->dtype](count, x, y);
        if (y2) sum[vectors + k] = dot[v->dtype](count, x, y2);
    }
}

static void do_ranges(void *user, int64_t first, int64_t end)
{
    const passing *a = user;
    const trs_dot *d = a->p->dot;
    const bool once = trs_read_once(a->p);
    const trs_space *v = a->v;
    for (int64_t r = first; r < end; r++) {
        const int64_t begin = r * TRS_RANGE, count = trs_min(v->n - begin, TRS_RANGE);
        trs_z *sum = v->sums + r * a->dots;
        for (int u = 0; u < TRS_UPDATES && a->p->update[u].y; u++)
            update_range(v, &a->p->update[u], begin, count);
        for (int k = 0; k < TRS_DOTS && d[k].x; k += once ? TRS_DOTS : 1) {
            dot_range(v, &d[k], once ? d[1].y : NULL, begin, count, sum);
            sum += trs_count(d[k].count);
        }
    }
}

/* Add the sums of the ranges. */
static void add_ranges(const passing *a)
{
    const int64_t ranges = trs_ranges(a->v->n);
    int k = 0;
    for (int d = 0; d < TRS_DOTS && a->p->dot[d].x; d++)
        for (int i = 0; i < trs_count(a->p->dot[d].count); i++, k++) {
            trs_z sum = {0, 0};
            for (int64_t r = 0; r < ranges; r++) sum = trs_plus(sum, a->v->sums[r * a->dots + k]);
            a->v->scalars->s[a->p->dot[d].a + i] = sum;
        }
}

void trs_pass_here(const trs_space *v, const trs_pass *p, bool always)
{
    const trs_context ctx = {.threads = v->threads};
    passing a = {v, p, trs_dots(p)};
    int64_t vectors = a.dots;
    if (trs_pass_over(v->scalars, p, always)) return;
    for (int u = 0; u < TRS_UPDATES && p->update[u].y; u++)
        vectors += trs_count(p->update[u].count);
    trs_share(trs_team(&ctx, v->n * vectors), trs_ranges(v->n), 4, do_ranges, &a);
    add_ranges(&a);
    trs_scalar_do(v->scalars, p->step);
}

#else

#if IS_COMPLEX
#define NUMBER(z) ((T)CMPLX((z).re, (z).im))
#else
#define NUMBER(z) ((T)(z).re)
#endif

static void FN(pass_clear)(int64_t n, void *to)
{
    T *y = to;
    for (int64_t i = 0; i < n; i++) y[i] = 0;
}

static TRS_CLONES void FN(pass_scale)(int64_t n, trs_z b, void *to)
{
    const T c = NUMBER(b);
    T *y = to;
    for (int64_t i = 0; i < n; i++) y[i] *= c;
}

/* y += a x.  The next one is for four vectors x, which are ld numbers apart: y is read and written once, in the same bits. */
static TRS_CLONES void FN(pass_add)(int64_t n, const trs_z *a, const void *from, int64_t ld,
                                    void *to)
{
    const T *restrict x = from, c = NUMBER(*a);
    T *restrict y = to;
    (void)ld;
    for (int64_t i = 0; i < n; i++) y[i] += c * x[i];
}

static TRS_CLONES void FN(pass_add_four)(int64_t n, const trs_z *a, const void *from, int64_t ld,
                                         void *to)
{
    const T *restrict x = from, c = NUMBER(a[0]), d = NUMBER(a[1]), e = NUMBER(a[2]),
                      f = NUMBER(a[3]);
    T *restrict y = to;
    for (int64_t i = 0; i < n; i++) {
        T sum = y[i];
        sum += c * x[i];
        sum += d * x[i + ld];
        sum += e * x[i + 2 * ld];
        sum += f * x[i + 3 * ld];
        y[i] = sum;
    }
}

static TRS_CLONES trs_z FN(pass_dot)(int64_t n, const void *left, const void *right)
{
    const T *x = left, *y = right;
    double re = 0, im = 0;
#pragma omp simd reduction(+ : re, im)
    for (int64_t i = 0; i < n; i++) {
#if IS_COMPLEX
        const double a = creal(x[i]), b = cimag(x[i]), c = creal(y[i]), d = cimag(y[i]);
        re += a * c + b * d;
        im += a * d - b * c;
#else
        re += (double)x[i] * y[i];
#endif
    }
    return (trs_z){re, im};
}

#undef NUMBER

#endif
