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
    static void (*const add[])(int64_t, trs_z, const void *, void *) = TRS_PER_TYPE(pass_add);
    const trs_z *s = v->scalars->s;
    void *y = part(v, u->y, begin);
    if (u->b == ZERO) clear[v->dtype](count, y);
    else if (u->b != ONE) scale[v->dtype](count, s[u->b], y);
    for (int k = 0; u->x && k < trs_count(u->count); k++) {
        const trs_z a = s[u->a + k], b = trs_scaled(u->minus ? -1 : 1, a);
        add[v->dtype](count, b, part(v, u->x, begin + k * v->ld), y);
    }
}

static void do_ranges(void *user, int64_t first, int64_t end)
{
    static trs_z (*const dot[])(int64_t, const void *, const void *) = TRS_PER_TYPE(pass_dot);
    const passing *a = user;
    const trs_space *v = a->v;
    for (int64_t r = first; r < end; r++) {
        const int64_t begin = r * TRS_RANGE, count = trs_min(v->n - begin, TRS_RANGE);
        trs_z *sum = v->sums + r * a->dots;
        for (int u = 0; u < TRS_UPDATES && a->p->update[u].y; u++)
            update_range(v, &a->p->update[u], begin, count);
        for (int d = 0; d < TRS_DOTS && a->p->dot[d].x; d++) {
            const trs_dot *of = &a->p->dot[d];
            for (int k = 0; k < trs_count(of->count); k++)
                *sum++ =
                    dot[v->dtype](count, part(v, of->x, begin + k * v->ld), part(v, of->y, begin));
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
    if (v->scalars->stop && !always) return;
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

static TRS_CLONES void FN(pass_add)(int64_t n, trs_z a, const void *from, void *to)
{
    const T *restrict x = from, c = NUMBER(a);
    T *restrict y = to;
    for (int64_t i = 0; i < n; i++) y[i] += c * x[i];
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
