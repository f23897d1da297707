/* problem.c: see problem.h. */
#include "problem.h"

#include "tests/common/device.h"

#include "base/device.h"

#include <float.h>
#include <math.h>

/* ---- the matrix ------------------------------------------------------------------------------ */

/* The rows of L + U, and the levels of those of L. */
static void find_rows(problem *b, const char *entry)
{
    const int n = b->n;
    int64_t nnz = 0, *ptr = zeroed((int64_t)n + 1, sizeof *ptr), *diag = zeroed(n, sizeof *diag);
    for (int64_t k = 0; k < (int64_t)n * n; k++) nnz += entry[k] != 0;
    int32_t *idx = zeroed(nnz, sizeof *idx), *level = zeroed(n, sizeof *level);
    nnz = 0;
    for (int i = 0; i < n; i++) {
        for (int j = 0; j < n; j++) {
            if (!entry[(int64_t)i * n + j]) continue;
            if (j < i && level[i] <= level[j]) level[i] = level[j] + 1;
            if (j == i) diag[i] = nnz;
            idx[nnz++] = j;
        }
        ptr[i + 1] = nnz;
        if (level[i] >= b->p.levels) b->p.levels = level[i] + 1;
    }
    b->p.n = n, b->p.nnz = nnz, b->p.ptr = ptr, b->p.idx = idx, b->p.diag = diag,
    b->p.level = level;
}

static int64_t entry_at(const problem *b, int i, int j)
{
    int64_t q = b->p.ptr[i];
    while (b->p.idx[q] != j) q++;
    return q;
}

/* One entry in 12 off the diagonal has no number in A, and every second place of val stays free.  Of Cholesky the upper
 * triangle takes the conjugated numbers of the lower one; of scaled rows no entry does, and the pattern says so. */
static void find_places(problem *b, bool scaled, random_t *r)
{
    const int64_t nnz = b->p.nnz;
    int64_t *src = random_order(nnz, r), *to = random_order(nnz, r);
    unsigned char *conjugate = b->p.cholesky || scaled ? zeroed(nnz, 1) : NULL;
    for (int i = 0; i < b->n; i++)
        for (int64_t q = b->p.ptr[i]; q < b->p.ptr[i + 1]; q++) {
            const int j = b->p.idx[q];
            to[q] = b->p.cholesky && j > i ? -1 : 2 * to[q] + 1;
            if (i != j && random_below(r, 12) == 0) src[q] = TRS_SRC_MISSING;
        }
    for (int i = 0; b->p.cholesky && i < b->n; i++)
        for (int64_t q = b->p.ptr[i]; q < b->p.diag[i]; q++) {
            const int64_t mirror = entry_at(b, b->p.idx[q], i);
            src[mirror] = src[q];
            conjugate[mirror] = 1;
        }
    b->places = (int)(2 * nnz + 1);
    b->p.src = src, b->p.to = to, b->p.conjugate = conjugate;
}

/* The diagonal dominates.  Of L L^H it is real but for a little, which is to be left out. */
static zz random_value(const problem *b, bool diagonal, double length, random_t *r)
{
    const double re = random_uniform(r), im = trs_is_complex(b->dtype) ? random_uniform(r) : 0;
    if (!diagonal) return CMPLX(re, im);
    return CMPLX(re / 4 + 2 * length, b->p.cholesky ? ldexp(im, -20) : im / 4);
}

static void draw_values(problem *b, random_t *r)
{
    for (int i = 0; i < b->n; i++)
        for (int64_t q = b->p.ptr[i]; q < b->p.ptr[i + 1]; q++) {
            if (b->p.src[q] < 0 || (b->p.cholesky && b->p.idx[q] > i)) continue;
            const double length = (double)(b->p.ptr[i + 1] - b->p.ptr[i]);
            const zz v = random_value(b, b->p.idx[q] == i, length, r);
            const bool turned = b->signs && b->p.idx[q] == i && i % 3 == 1;
            b->a[b->p.src[q]] = (turned ? -1 : 1) * (zz)(float complex)v;
        }
}

void make_indefinite(problem *b)
{
    b->signs = zeroed(b->n, 1);
    for (int i = 0; i < b->n; i++) {
        if (i % 2) b->signs[i] = i % 3 == 1 ? -1 : 1;
        if (i % 3 == 1) b->a[b->p.src[b->p.diag[i]]] *= -1;
    }
}

problem *problem_new(char *entry, int n, trs_dtype dtype, bool cholesky, bool scaled, random_t *r)
{
    problem *b = zeroed(1, sizeof *b);
    double *scale = scaled ? zeroed(n, sizeof *scale) : NULL;
    *b = (problem){.n = n, .dtype = dtype, .ctx = {.threads = 1}};
    b->p.dtype = dtype, b->p.cholesky = cholesky;
    find_rows(b, entry);
    free(entry);
    find_places(b, scaled, r);
    b->a = zeroed(b->p.nnz, sizeof *b->a);
    draw_values(b, r);
    for (int i = 0; scale && i < n; i++) scale[i] = ldexp(1, random_below(r, 7) - 3);
    b->p.scale = scale;
    return b;
}

void set_pivot(problem *b, int i, zz v)
{
    for (int64_t q = b->p.ptr[i]; q < (b->p.cholesky ? b->p.ptr[i + 1] : b->p.diag[i]); q++)
        if (b->p.src[q] >= 0) b->a[b->p.src[q]] = 0;
    b->a[b->p.src[b->p.diag[i]]] = v;
}

/* ---- on the device --------------------------------------------------------------------------- */

static void *put(problem *b, const void *from, int64_t count, size_t size)
{
    if (!from) return NULL;
    void *p = trs_gpu_new(&b->ctx, count, size, "a test");
    assert_non_null(p);
    assert_int_equal(trs_gpu_put(&b->ctx, p, from, (size_t)count * size), TRS_OK);
    return p;
}

void problem_send(problem *b, const char *kernel)
{
    const trs_elimination_pattern *p = &b->p;
    const int64_t n = p->n, nnz = p->nnz;
    trs_elimination_pattern *d = &b->on_device;
    *d = *p;
    assert_int_equal(trs_gpu_use(&b->ctx), TRS_OK);
    d->ptr = put(b, p->ptr, n + 1, sizeof *p->ptr);
    d->idx = put(b, p->idx, nnz, sizeof *p->idx);
    d->diag = put(b, p->diag, n, sizeof *p->diag);
    d->level = put(b, p->level, n, sizeof *p->level);
    d->src = put(b, p->src, nnz, sizeof *p->src);
    d->to = put(b, p->to, nnz, sizeof *p->to);
    d->conjugate = put(b, p->conjugate, nnz, 1);
    d->scale = put(b, p->scale, n, sizeof *p->scale);
    b->dev_signs = put(b, b->signs, n, 1);
    b->dev_sign = put(b, b->signs, n, 1);
    b->dev_a = trs_gpu_new(&b->ctx, nnz, trs_size(b->dtype), "a test");
    b->dev_val = trs_gpu_new(&b->ctx, b->places, trs_size(b->dtype), "a test");
    b->dev_outcome = trs_gpu_new(&b->ctx, 1, sizeof *b->dev_outcome, "a test");
    assert_true(b->dev_a && b->dev_val && b->dev_outcome);
    assert_status(trs_elimination_create(&b->ctx, d, &b->e), TRS_OK);
    assert_true(*trs_elimination_kernel(b->e));
    if (kernel) assert_string_equal(trs_elimination_kernel(b->e), kernel);
}

void problem_free(problem *b)
{
    const trs_elimination_pattern *h = &b->p, *d = &b->on_device;
    const void *host[] = {h->ptr, h->idx,       h->diag,  h->level, h->src,
                          h->to,  h->conjugate, h->scale, b->signs};
    const void *device[] = {d->ptr,         d->idx,       d->diag,     d->level, d->src,
                            d->to,          d->conjugate, d->scale,    b->dev_a, b->dev_val,
                            b->dev_outcome, b->dev_sign,  b->dev_signs};
    trs_elimination_destroy(b->e);
    for (size_t k = 0; k < sizeof host / sizeof *host; k++) free((void *)host[k]);
    for (size_t k = 0; k < sizeof device / sizeof *device; k++)
        trs_gpu_free(&b->ctx, (void *)device[k]);
    trs_gpu_drop_scratch(&b->ctx);
    trs_gpu_drop_ring(&b->ctx);
    free(b->a);
    free(b);
}

/* Bytes that no run leaves, of val and of the outcome before a run. */
enum { UNTOUCHED = 0x5b };

/* The values of A to the device, and nothing of an older run is left there. */
static void prepare(problem *b)
{
    const size_t size = trs_size(b->dtype), bytes = (size_t)b->places * size;
    const int64_t nnz = b->p.nnz;
    char *a = zeroed(nnz, size), *old = zeroed((int64_t)bytes + 100, 1);
    for (int64_t k = 0; k < nnz; k++) set_number(a, b->dtype, k, b->a[k]);
    memset(old, UNTOUCHED, bytes + 100);
    assert_int_equal(trs_gpu_put(&b->ctx, b->dev_a, a, (size_t)nnz * size), TRS_OK);
    assert_int_equal(trs_gpu_put(&b->ctx, b->dev_val, old, bytes), TRS_OK);
    assert_int_equal(trs_gpu_put(&b->ctx, b->dev_outcome, old, sizeof *b->dev_outcome), TRS_OK);
    free(a);
    free(old);
}

static void enqueue(problem *b, void *stream)
{
    const trs_elimination_job job = {.a = b->dev_a,
                                     .val = b->dev_val,
                                     .shift = b->shift,
                                     .boost = b->boost,
                                     .outcome = b->dev_outcome,
                                     .sign = b->dev_sign,
                                     .signs = b->dev_signs,
                                     .stream = stream};
    assert_status(trs_elimination_run(b->e, &job), TRS_OK);
}

static char *fetch(problem *b)
{
    const size_t bytes = (size_t)b->places * trs_size(b->dtype);
    char *val = zeroed((int64_t)bytes, 1);
    assert_int_equal(trs_gpu_get(&b->ctx, val, b->dev_val, bytes), TRS_OK);
    return val;
}

static char *run(problem *b)
{
    prepare(b);
    enqueue(b, NULL);
    assert_int_equal(trs_gpu_wait(NULL), TRS_OK);
    return fetch(b);
}

trs_elimination_outcome outcome_of(problem *b)
{
    trs_elimination_outcome o;
    assert_int_equal(trs_gpu_get(&b->ctx, &o, b->dev_outcome, sizeof o), TRS_OK);
    return o;
}

/* ---- the reference --------------------------------------------------------------------------- */

static double size_of(zz z)
{
    return cabs(z);
}

static void raise_to(double *most, double v)
{
    if (v > *most) *most = v;
}

/* Row i gets the values of A.  Returns its largest number, which counts for boost. */
static double begin_row(const problem *b, reference *ref, int i)
{
    const trs_elimination_pattern *p = &b->p;
    double largest = 0;
    for (int64_t q = p->ptr[i]; q < p->ptr[i + 1]; q++) {
        const zz a = p->src[q] < 0 ? 0 : b->a[p->src[q]];
        zz v = (p->conjugate && p->conjugate[q] ? conj(a) : a) * (p->scale ? p->scale[i] : 1);
        if (p->cholesky && p->idx[q] == i) v = creal(v);
        if (!p->cholesky || p->idx[q] <= i || b->signs) raise_to(&largest, size_of(v));
        if (p->idx[q] == i) v *= 1 + b->shift;
        ref->w[q] = v;
        ref->bound[q] = size_of(v);
    }
    raise_to(&ref->o.largest_a, largest);
    return largest;
}

/* Subtract l(i, k) times row k, where l(i, k) is entry q, from row i.
 *     const int64_t where [n] ; 1 + the place of each column in row i, 0: there is none */
static void subtract_row(const problem *b, reference *ref, const int64_t *where, int64_t q)
{
    const int k = b->p.idx[q];
    const int64_t d = b->p.diag[k];
    const zz pivot = ref->w[d], l = ref->w[q] /= pivot;
    ref->bound[q] = (ref->bound[q] + size_of(l) * ref->bound[d]) / size_of(pivot);
    for (int64_t s = d + 1; s < b->p.ptr[k + 1]; s++) {
        const int64_t to = where[b->p.idx[s]] - 1;
        const double u = size_of(ref->w[s]);
        raise_to(to < 0 ? &ref->largest_outside : &ref->o.largest, size_of(l) * u);
        if (to < 0) continue;
        ref->w[to] -= l * ref->w[s];
        ref->bound[to] += ref->bound[q] * u + size_of(l) * ref->bound[s];
    }
}

/* The pivot of L S L^H in place of d. */
static double signed_pivot(const problem *b, reference *ref, int i, double d, double least)
{
    const int own = d < 0 ? -1 : 1, sign = b->signs[i] ? b->signs[i] : own;
    if (b->boost > 0 && sign * d < least) {
        if (ref->o.boosted++ == 0) ref->o.first_boosted = (uint64_t)i;
        raise_to(&ref->bound[b->p.diag[i]], least);
        d = sign * least;
    }
    ref->sign[i] = d < 0 ? -1 : 1;
    return d;
}

static trs_ilu_fault finish_pivot(const problem *b, reference *ref, int i, double least)
{
    zz *d = &ref->w[b->p.diag[i]];
    for (int64_t q = b->p.ptr[i]; q < b->p.ptr[i + 1]; q++)
        if (!isfinite(creal(ref->w[q])) || !isfinite(cimag(ref->w[q]))) return TRS_ILU_INFINITE;
    if (b->p.cholesky) *d = creal(*d);
    if (b->signs) *d = signed_pivot(b, ref, i, creal(*d), least);
    else if (b->boost > 0 && (b->p.cholesky ? creal(*d) : size_of(*d)) < least) {
        if (b->p.cholesky || *d == 0) *d = least;
        else *d *= least / size_of(*d);
        raise_to(&ref->bound[b->p.diag[i]], least);
        ref->o.boosted++;
    }
    if (b->p.cholesky && !b->signs && creal(*d) < 0) return TRS_ILU_NEGATIVE;
    return *d == 0 ? TRS_ILU_ZERO : TRS_ILU_GOOD;
}

static void eliminate_row(const problem *b, reference *ref, int64_t *where, int i)
{
    const int64_t begin = b->p.ptr[i], diag = b->p.diag[i], end = b->p.ptr[i + 1];
    const double least = b->boost * begin_row(b, ref, i);
    bool spoilt = false;
    for (int64_t q = begin; q < end; q++) where[b->p.idx[q]] = q + 1;
    for (int64_t q = begin; q < diag; q++) {
        subtract_row(b, ref, where, q);
        spoilt = spoilt || isinf(ref->bound[b->p.diag[b->p.idx[q]]]);
    }
    for (int64_t q = begin; q < end; q++) where[b->p.idx[q]] = 0;
    const trs_ilu_fault f = finish_pivot(b, ref, i, least);
    ref->o.bad += f != TRS_ILU_GOOD;
    if (f && ref->o.first == UINT64_MAX) ref->o.first = 4 * (uint64_t)i + f;
    for (int64_t q = diag; q < end; q++) raise_to(&ref->o.largest, size_of(ref->w[q]));
    for (int64_t q = begin; (f || spoilt) && q < end; q++) ref->bound[q] = INFINITY;
}

reference reference_new(const problem *b)
{
    reference ref = {.w = zeroed(b->p.nnz, sizeof *ref.w),
                     .bound = zeroed(b->p.nnz, sizeof *ref.bound),
                     .sign = zeroed(b->n, 1),
                     .o = {.first = UINT64_MAX, .first_boosted = UINT64_MAX}};
    int64_t *where = zeroed(b->n, sizeof *where);
    for (int i = 0; i < b->n; i++) eliminate_row(b, &ref, where, i);
    free(where);
    return ref;
}

void reference_free(reference *ref)
{
    free(ref->w);
    free(ref->bound);
    free(ref->sign);
}

/* ---- the comparison -------------------------------------------------------------------------- */

/* The error of entry q, (i, j), whose computed value is v, in units of its bound; of a spoilt row: 0. */
static double error_of(const problem *b, const reference *ref, int64_t q, bool diagonal, zz v)
{
    const int64_t d = b->p.diag[b->p.idx[q]];
    double e = size_of(v - ref->w[q]), bound = ref->bound[q];
    if (isinf(bound)) return 0;
    if (b->p.cholesky) { /* L has l(i, j) sqrt |u(j, j)|, where l(j, j) = 1 */
        const double root = sqrt(fabs(creal(ref->w[d])));
        const zz l = diagonal ? 1 : ref->w[q];
        e = size_of(v - l * root);
        bound = (diagonal ? 1 : bound) * root + size_of(l) * ref->bound[d] / root;
    }
    e /= epsilon(b->dtype) * bound + DBL_MIN;
    return isnan(e) ? INFINITY : e;
}

/* Largest error of val, which is changed, in rows before `rows`.  Places that have no entry are untouched. */
static double compare_values(const problem *b, const reference *ref, char *val, int rows)
{
    const size_t size = trs_size(b->dtype);
    double worst = 0;
    for (int i = 0; i < b->n; i++)
        for (int64_t q = b->p.ptr[i]; q < b->p.ptr[i + 1]; q++) {
            const int64_t to = b->p.to[q];
            if (to < 0) continue;
            if (i < rows)
                raise_to(&worst,
                         error_of(b, ref, q, b->p.idx[q] == i, get_number(val, b->dtype, to)));
            memset(val + (size_t)to * size, UNTOUCHED, size);
        }
    for (size_t k = 0; k < (size_t)b->places * size; k++) assert_int_equal(val[k], UNTOUCHED);
    return worst;
}

/* The entry kernel sees products that fall outside of the pattern. */
static bool is_entry_kernel(const problem *b)
{
    return strcmp(trs_elimination_kernel(b->e), "entries") == 0;
}

static void compare_signs(problem *b, const reference *ref)
{
    int8_t *sign = zeroed(b->n, 1);
    if (b->signs) {
        assert_int_equal(trs_gpu_get(&b->ctx, sign, b->dev_sign, (size_t)b->n), TRS_OK);
        assert_memory_equal(sign, ref->sign, (size_t)b->n);
    }
    free(sign);
}

static void compare_outcome(problem *b, const reference *ref)
{
    const trs_elimination_outcome o = outcome_of(b), *w = &ref->o;
    const double relative = 2e-6 + 1e3 * epsilon(b->dtype);
    const double most = is_entry_kernel(b) ? fmax(w->largest, ref->largest_outside) : w->largest;
    assert_int_equal(o.first, w->first);
    assert_int_equal(o.boosted, w->boosted);
    assert_int_equal(o.first_boosted, w->first_boosted);
    assert_int_equal(o.bad > 0, w->bad > 0);
    if (w->bad) return;
    compare_signs(b, ref);
    assert_at_most(fabs(o.largest_a - w->largest_a), relative * w->largest_a);
    assert_at_most(w->largest, o.largest * (1 + relative));
    assert_at_most(o.largest, most * (1 + relative));
}

/* After a bad pivot the entry kernel may spoil any row. */
static double compare(problem *b, const reference *ref, char *val)
{
    const bool all = ref->o.first == UINT64_MAX || !is_entry_kernel(b);
    const double worst = compare_values(b, ref, val, all ? b->n : (int)(ref->o.first / 4));
    assert_at_most(worst, 50);
    compare_outcome(b, ref);
    return worst;
}

double run_and_compare(problem *b)
{
    reference ref = reference_new(b);
    char *once = run(b), *twice = run(b);
    assert_memory_equal(once, twice, (size_t)b->places * trs_size(b->dtype));
    const double worst = compare(b, &ref, twice);
    free(once);
    free(twice);
    reference_free(&ref);
    return worst;
}

void capture_and_compare(problem *b, random_t *r)
{
    cudaStream_t stream = new_stream();
    begin_capture(stream);
    enqueue(b, stream);
    cudaGraphExec_t exec = end_capture(stream);
    for (int step = 0; step < 3; step++) {
        draw_values(b, r);
        reference ref = reference_new(b);
        free(run(b));
        prepare(b);
        replay(exec, stream);
        char *val = fetch(b);
        compare(b, &ref, val);
        free(val);
        reference_free(&ref);
    }
    cudaGraphExecDestroy(exec);
    cudaStreamDestroy(stream);
}
