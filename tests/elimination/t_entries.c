/* t_entries.c: elimination by the entry kernel on the patterns that are its own: long rows, chains, complete fill, and last
 * rows that one block finishes; against elimination row by row on the host, in double precision. */
#include "tests/common/stream.h"

#include "base/device.h"
#include "elimination/elimination.h"

#include <float.h>
#include <math.h>

/* ---- patterns ---------------------------------------------------------------------------------------------------- */

typedef enum shape {
    DIAGONAL_ONLY,
    SIMPLE_CHAIN,
    ARROW_HEAD,   /* the last row and column are full */
    CIRCUIT,      /* a few entries a row, and nets that many rows have */
    CIRCUIT_FILL, /* the same, with all of its fill */
    GRID_FILL,
    SPARSE_TAIL, /* without its fill: the last rows lack entries */
    EVERYWHERE,
    SHAPES
} shape;

/* Is (i, j), j < i, an entry?  And (j, i)? */
static bool has(shape s, int i, int j, int n, random_t *r)
{
    const int width = 17;
    switch (s) {
    case SIMPLE_CHAIN:
        return i - j == 1;
    case ARROW_HEAD:
        return i == n - 1 || (i - j == 2 && i % 3 == 0);
    case CIRCUIT:
    case CIRCUIT_FILL:
        return random_below(r, n) == 0 || (j % 97 == 5 && random_below(r, 8) == 0) ||
               (i % 151 == 150 && random_below(r, 3) == 0);
    case GRID_FILL:
        return i - j == width || (i - j == 1 && i % width > 0);
    case SPARSE_TAIL:
        return random_below(r, i > n - 150 ? 3 : n) == 0;
    default:
        return s == EVERYWHERE;
    }
}

typedef struct problem {
    int n;
    trs_dtype dtype;
    double shift, boost;
    trs_elimination_pattern p, on_device;
    zz *a; /* [nnz] */
    trs_context ctx;
    trs_elimination *e;
    void *dev_a, *dev_val;
    trs_elimination_outcome *dev_outcome;
} problem;

static void *taken(int64_t count, size_t size)
{
    void *p = calloc((size_t)count + 1, size);
    assert_non_null(p);
    return p;
}

/* full [n*n]: is there an entry, or will there be one by elimination? */
static char *draw_pattern(shape s, int n, bool symmetric, random_t *r)
{
    char *full = taken((int64_t)n * n, 1);
    for (int i = 0; i < n; i++) {
        full[(int64_t)i * n + i] = 1;
        for (int j = 0; j < i; j++) {
            const bool lower = has(s, i, j, n, r);
            full[(int64_t)i * n + j] = lower;
            full[(int64_t)j * n + i] = symmetric || s == ARROW_HEAD ? lower : has(s, i, j, n, r);
        }
    }
    for (int k = 0; (s == CIRCUIT_FILL || s == GRID_FILL) && k < n; k++)
        for (int i = k + 1; i < n; i++)
            for (int j = k + 1; full[(int64_t)i * n + k] && j < n; j++)
                full[(int64_t)i * n + j] |= full[(int64_t)k * n + j];
    return full;
}

/* The rows of L + U and the levels of those of L. */
static void find_rows(problem *b, const char *full)
{
    const int n = b->n;
    int64_t nnz = 0, *ptr = taken((int64_t)n + 1, 8), *diag = taken(n, 8);
    for (int64_t k = 0; k < (int64_t)n * n; k++) nnz += full[k];
    int32_t *idx = taken(nnz, 4), *level = taken(n, 4);
    nnz = 0;
    for (int i = 0; i < n; i++) {
        for (int j = 0; j < n; j++) {
            if (!full[(int64_t)i * n + j]) continue;
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
    for (int64_t q = b->p.ptr[i]; q < b->p.ptr[i + 1]; q++)
        if (b->p.idx[q] == j) return q;
    return -1;
}

/* The values of A stand backwards, some entries have none, those of L and U are written with gaps. */
static void find_places(problem *b, random_t *r)
{
    const int64_t nnz = b->p.nnz;
    int64_t *src = taken(nnz, 8), *to = taken(nnz, 8);
    unsigned char *conjugate = taken(nnz, 1);
    for (int i = 0; i < b->n; i++)
        for (int64_t q = b->p.ptr[i]; q < b->p.ptr[i + 1]; q++) {
            const int j = b->p.idx[q];
            src[q] = i != j && random_below(r, 9) == 0 ? TRS_SRC_MISSING : nnz - 1 - q;
            to[q] = b->p.cholesky && j > i ? -1 : 2 * q + 1;
        }
    for (int i = 0; b->p.cholesky && i < b->n; i++)
        for (int64_t q = b->p.ptr[i]; q < b->p.diag[i]; q++) {
            const int64_t mirror = entry_at(b, b->p.idx[q], i);
            src[mirror] = src[q];
            conjugate[mirror] = 1;
        }
    b->p.src = src, b->p.to = to, b->p.conjugate = conjugate;
}

/* The diagonal dominates.  Rounded to single precision, so that every type has these numbers. */
static void draw_values(problem *b, random_t *r)
{
    const bool is_complex = trs_is_complex(b->dtype);
    for (int i = 0; i < b->n; i++)
        for (int64_t q = b->p.ptr[i]; q < b->p.ptr[i + 1]; q++) {
            if (b->p.src[q] < 0 || (b->p.cholesky && b->p.idx[q] > i)) continue;
            zz v = random_uniform(r) + (is_complex ? I * random_uniform(r) : 0);
            if (b->p.idx[q] == i) v = v / 4 + 2 * (double)(b->p.ptr[i + 1] - b->p.ptr[i]);
            b->a[b->p.src[q]] = (zz)(float complex)v;
        }
}

static problem *problem_new(shape s, int n, trs_dtype dtype, bool cholesky, random_t *r)
{
    problem *b = taken(1, sizeof *b);
    *b = (problem){.n = n, .dtype = dtype, .ctx = {.threads = 1}};
    b->p.dtype = dtype, b->p.cholesky = cholesky;
    char *full = draw_pattern(s, n, cholesky, r);
    find_rows(b, full);
    find_places(b, r);
    free(full);
    b->a = taken(b->p.nnz, sizeof *b->a);
    draw_values(b, r);
    double *scale = cholesky ? NULL : taken(n, 8);
    for (int i = 0; scale && i < n; i++) scale[i] = ldexp(1, random_below(r, 5) - 2);
    b->p.scale = scale;
    return b;
}

/* ---- on the device --------------------------------------------------------------------------------------------------- */

static void *put(problem *b, const void *from, int64_t bytes)
{
    void *p = from ? trs_gpu_new(&b->ctx, bytes, 1, "a test") : NULL;
    assert_true(p || !from);
    if (from) assert_int_equal(trs_gpu_put(&b->ctx, p, from, (size_t)bytes), TRS_OK);
    return p;
}

static void send_values(problem *b)
{
    const size_t bytes = (size_t)b->p.nnz * trs_size(b->dtype);
    char *a = taken(b->p.nnz, trs_size(b->dtype));
    for (int64_t k = 0; k < b->p.nnz; k++) set_number(a, b->dtype, k, b->a[k]);
    assert_int_equal(trs_gpu_put(&b->ctx, b->dev_a, a, bytes), TRS_OK);
    free(a);
}

static void send(problem *b)
{
    const trs_elimination_pattern *p = &b->p;
    const int64_t n = p->n, nnz = p->nnz, size = (int64_t)trs_size(b->dtype);
    trs_elimination_pattern *d = &b->on_device;
    *d = *p;
    assert_int_equal(trs_gpu_use(&b->ctx), TRS_OK);
    d->ptr = put(b, p->ptr, (n + 1) * 8);
    d->idx = put(b, p->idx, nnz * 4);
    d->diag = put(b, p->diag, n * 8);
    d->level = put(b, p->level, n * 4);
    d->src = put(b, p->src, nnz * 8);
    d->to = put(b, p->to, nnz * 8);
    d->conjugate = put(b, p->conjugate, nnz);
    d->scale = put(b, p->scale, n * 8);
    b->dev_a = trs_gpu_new(&b->ctx, nnz, (size_t)size, "a test");
    b->dev_val = trs_gpu_new(&b->ctx, 2 * nnz + 1, (size_t)size, "a test");
    b->dev_outcome = trs_gpu_new(&b->ctx, 1, sizeof *b->dev_outcome, "a test");
    assert_true(b->dev_a && b->dev_val && b->dev_outcome);
    send_values(b);
    assert_status(trs_elimination_create(&b->ctx, d, &b->e), TRS_OK);
    assert_string_equal(trs_elimination_kernel(b->e), "entries");
}

static void problem_free(problem *b)
{
    const trs_elimination_pattern *h = &b->p, *d = &b->on_device;
    const void *host[] = {h->ptr, h->idx, h->diag, h->level, h->src, h->to, h->conjugate, h->scale};
    const void *device[] = {d->ptr,       d->idx,   d->diag,  d->level,   d->src,        d->to,
                            d->conjugate, d->scale, b->dev_a, b->dev_val, b->dev_outcome};
    trs_elimination_destroy(b->e);
    for (size_t k = 0; k < sizeof host / sizeof *host; k++) free((void *)host[k]);
    for (size_t k = 0; k < sizeof device / sizeof *device; k++)
        trs_gpu_free(&b->ctx, (void *)device[k]);
    trs_gpu_drop_scratch(&b->ctx);
    trs_gpu_drop_ring(&b->ctx);
    free(b->a);
    free(b);
}

static trs_elimination_job job_of(const problem *b, void *stream)
{
    return (trs_elimination_job){.a = b->dev_a,
                                 .val = b->dev_val,
                                 .shift = b->shift,
                                 .boost = b->boost,
                                 .outcome = b->dev_outcome,
                                 .stream = stream};
}

static void *fetch(problem *b)
{
    const size_t size = trs_size(b->dtype);
    void *val = taken(2 * b->p.nnz + 1, size);
    assert_int_equal(trs_gpu_get(&b->ctx, val, b->dev_val, (size_t)(2 * b->p.nnz + 1) * size),
                     TRS_OK);
    return val;
}

/* Whatever the run leaves of val has all bits set. */
static void *run(problem *b)
{
    const trs_elimination_job job = job_of(b, NULL);
    const size_t bytes = (size_t)(2 * b->p.nnz + 1) * trs_size(b->dtype);
    void *old = taken((int64_t)bytes, 1);
    memset(old, 0xff, bytes);
    assert_int_equal(trs_gpu_put(&b->ctx, b->dev_val, old, bytes), TRS_OK);
    free(old);
    assert_status(trs_elimination_run(b->e, &job), TRS_OK);
    assert_int_equal(trs_gpu_wait(NULL), TRS_OK);
    return fetch(b);
}

/* ---- the reference --------------------------------------------------------------------------------------------------- */

typedef struct reference {
    zz *w;         /* [nnz] L and U */
    double *bound; /* [nnz] the sum of the sizes of what each is made of */
    trs_elimination_outcome o;
    double largest_dropped; /* |l(i, k) u(k, j)| where (i, j) is no entry */
} reference;

static double size_of(zz z)
{
    return fabs(creal(z)) + fabs(cimag(z));
}

static bool finite_number(zz z)
{
    return isfinite(creal(z)) && isfinite(cimag(z));
}

static void raise_to(double *most, double v)
{
    if (v > *most) *most = v;
}

/* Row i gets the values of A.  Returns its largest number, which counts for boost. */
static double begin_row(const problem *b, reference *ref, int i)
{
    double largest = 0;
    for (int64_t q = b->p.ptr[i]; q < b->p.ptr[i + 1]; q++) {
        const zz a = b->p.src[q] < 0 ? 0 : b->a[b->p.src[q]];
        zz v = (b->p.conjugate[q] ? conj(a) : a) * (b->p.scale ? b->p.scale[i] : 1);
        if (b->p.cholesky && b->p.idx[q] == i) v = creal(v);
        if (!b->p.cholesky || b->p.idx[q] <= i) raise_to(&largest, size_of(v));
        if (b->p.idx[q] == i) v *= 1 + b->shift;
        ref->w[q] = v;
        ref->bound[q] = size_of(v);
    }
    raise_to(&ref->o.largest_a, largest);
    return largest;
}

/* where [j]: 1 + the place of column j in row i */
static void eliminate_row(const problem *b, reference *ref, const int64_t *where, int i)
{
    for (int64_t q = b->p.ptr[i]; q < b->p.diag[i]; q++) {
        const int k = b->p.idx[q];
        const zz pivot = ref->w[b->p.diag[k]], l = ref->w[q] /= pivot;
        ref->bound[q] /= size_of(pivot);
        for (int64_t s = b->p.diag[k] + 1; s < b->p.ptr[k + 1]; s++) {
            const int64_t to = where[b->p.idx[s]] - 1;
            const double size = size_of(l) * size_of(ref->w[s]);
            raise_to(to < 0 ? &ref->largest_dropped : &ref->o.largest, size);
            if (to < 0) continue;
            ref->w[to] -= l * ref->w[s];
            ref->bound[to] += size;
        }
    }
}

static trs_ilu_fault finish_pivot(const problem *b, reference *ref, int i, double least)
{
    zz *d = &ref->w[b->p.diag[i]];
    for (int64_t q = b->p.ptr[i]; q < b->p.ptr[i + 1]; q++)
        if (!finite_number(ref->w[q])) return TRS_ILU_INFINITE;
    if (b->p.cholesky) *d = creal(*d);
    if (b->boost > 0 && (b->p.cholesky ? creal(*d) : size_of(*d)) < least) {
        *d = !b->p.cholesky && creal(*d) < 0 ? -least : least;
        ref->o.boosted++;
    }
    if (b->p.cholesky && creal(*d) < 0) return TRS_ILU_NEGATIVE;
    return *d == 0 ? TRS_ILU_ZERO : TRS_ILU_GOOD;
}

static reference solve(const problem *b)
{
    reference ref = {
        .w = taken(b->p.nnz, sizeof(zz)), .bound = taken(b->p.nnz, 8), .o = {.first = UINT64_MAX}};
    int64_t *where = taken(b->n, 8);
    for (int i = 0; i < b->n; i++) {
        const double least = b->boost * begin_row(b, &ref, i);
        for (int64_t q = b->p.ptr[i]; q < b->p.ptr[i + 1]; q++) where[b->p.idx[q]] = q + 1;
        eliminate_row(b, &ref, where, i);
        for (int64_t q = b->p.ptr[i]; q < b->p.ptr[i + 1]; q++) where[b->p.idx[q]] = 0;
        const trs_ilu_fault f = finish_pivot(b, &ref, i, least);
        if (f && ref.o.first == UINT64_MAX) ref.o.first = 4 * (uint64_t)i + f;
        for (int64_t q = b->p.diag[i]; q < b->p.ptr[i + 1]; q++)
            raise_to(&ref.o.largest, size_of(ref.w[q]));
    }
    free(where);
    return ref;
}

static void reference_free(reference *ref)
{
    free(ref->w);
    free(ref->bound);
}

/* Largest error of the factors in val, in units of epsilon of their bounds, in rows before `rows`. */
static double error_of(const problem *b, const reference *ref, const void *val, int rows)
{
    double worst = 0;
    for (int i = 0; i < rows; i++)
        for (int64_t q = b->p.ptr[i]; q < b->p.ptr[i + 1]; q++) {
            const int j = b->p.idx[q];
            const double root = b->p.cholesky ? sqrt(creal(ref->w[b->p.diag[j]])) : 1;
            const zz want = b->p.cholesky && i == j ? root : ref->w[q] * root;
            const double bound = ref->bound[q] * root + (b->p.cholesky && i == j ? root : 0);
            assert_true(isnan(creal(get_number(val, b->dtype, 2 * q))));
            if (b->p.to[q] < 0) continue;
            const double e = size_of(get_number(val, b->dtype, b->p.to[q]) - want) /
                             (epsilon(b->dtype) * bound + DBL_MIN);
            if (!(e <= worst)) worst = isnan(e) ? INFINITY : e;
        }
    return worst;
}

static trs_elimination_outcome outcome_of(problem *b)
{
    trs_elimination_outcome o;
    assert_int_equal(trs_gpu_get(&b->ctx, &o, b->dev_outcome, sizeof o), TRS_OK);
    return o;
}

/* The outcome of a run; returns the first bad row, or n. */
static int compare_outcome(problem *b, const reference *ref)
{
    const trs_elimination_outcome o = outcome_of(b), *w = &ref->o;
    const double relative = 2e-6 + 1e3 * epsilon(b->dtype);
    assert_int_equal(o.first, w->first);
    if (w->first != UINT64_MAX) {
        assert_true(o.bad > 0);
        return (int)(w->first / 4);
    }
    assert_int_equal(o.bad, 0);
    assert_int_equal(o.boosted, w->boosted);
    assert_at_most(fabs(o.largest_a - w->largest_a), relative * w->largest_a);
    assert_at_most(w->largest, o.largest * (1 + relative));
    assert_at_most(o.largest, fmax(w->largest, ref->largest_dropped) * (1 + relative));
    return b->n;
}

static double run_and_compare(problem *b)
{
    reference ref = solve(b);
    void *once = run(b), *twice = run(b);
    const double e = error_of(b, &ref, once, compare_outcome(b, &ref));
    assert_at_most(e, 100);
    assert_memory_equal(once, twice, (size_t)(2 * b->p.nnz + 1) * trs_size(b->dtype));
    free(once);
    free(twice);
    reference_free(&ref);
    return e;
}

/* ---- tests --------------------------------------------------------------------------------------------------------------- */

static void test_factors(void **state)
{
    static const int sizes[] = {1, 2, 16, 33, 64, 129, 300};
    random_t r = {21};
    double worst = 0;
    (void)state;
    for (int s = 0; s < SHAPES; s++)
        for (int k = 0; k < 7; k++) {
            problem *b = problem_new((shape)s, sizes[k], (trs_dtype)((s + k) % 4), k % 3 == 1, &r);
            send(b);
            worst = fmax(worst, run_and_compare(b));
            assert_true(trs_elimination_bytes(b->e) > 0);
            problem_free(b);
        }
    print_message("# largest error %.2f eps\n", worst);
}

static void test_every_type(void **state)
{
    random_t r = {22};
    (void)state;
    for (int number = 0; number < 24; number++) {
        static const shape of[] = {CIRCUIT_FILL, SPARSE_TAIL, CIRCUIT};
        problem *b = problem_new(of[number / 8], 350, (trs_dtype)(number % 4), number & 4, &r);
        send(b);
        run_and_compare(b);
        problem_free(b);
    }
}

static void test_long_rows(void **state)
{
    random_t r = {23};
    (void)state;
    problem *b = problem_new(ARROW_HEAD, 4000, TRS_F64, false, &r);
    send(b);
    run_and_compare(b);
    problem_free(b);
}

static void test_nothing(void **state)
{
    random_t r = {24};
    (void)state;
    problem *b = problem_new(DIAGONAL_ONLY, 0, TRS_F64, false, &r);
    send(b);
    run_and_compare(b);
    problem_free(b);
}

/* Row `row` of A is zero but for a diagonal entry v, so that this is its pivot. */
static void set_row(problem *b, int row, zz v)
{
    for (int64_t q = b->p.ptr[row]; q < b->p.ptr[row + 1]; q++)
        if (b->p.src[q] >= 0) b->a[b->p.src[q]] = 0;
    b->a[b->p.src[b->p.diag[row]]] = v;
}

/* A bad pivot at the front, in the middle and in the tail, where it is no node, a node, or another block's. */
static void test_bad_pivots(void **state)
{
    static const double bad[] = {0, NAN, INFINITY, -3};
    random_t r = {25};
    (void)state;
    for (int number = 0; number < 48; number++) {
        const int n = 300, row = (int[]){0, 120, 290}[number % 3];
        problem *b = problem_new(number & 1 ? CIRCUIT_FILL : SPARSE_TAIL, n,
                                 (trs_dtype)(number / 3 % 4), number / 12 % 2, &r);
        set_row(b, row, bad[number / 12]);
        send(b);
        run_and_compare(b);
        problem_free(b);
    }
}

static void test_boost_and_shift(void **state)
{
    random_t r = {26};
    int boosted = 0;
    (void)state;
    for (int number = 0; number < 24; number++) {
        const int n = 300;
        problem *b = problem_new(number & 1 ? CIRCUIT_FILL : SPARSE_TAIL, n,
                                 (trs_dtype)(number / 2 % 4), number / 8 % 2, &r);
        for (int row = 7; row < n; row += 71) b->a[b->p.src[b->p.diag[row]]] = 0.125;
        b->boost = 0.5;
        b->shift = number / 16 * 0.25;
        send(b);
        reference ref = solve(b);
        boosted += (int)ref.o.boosted;
        reference_free(&ref);
        run_and_compare(b);
        problem_free(b);
    }
    assert_true(boosted > 50);
}

/* Pivots whose inverse overflows, or has lost digits: they are divided by. */
static void test_far_from_one(void **state)
{
    random_t r = {27};
    (void)state;
    for (int number = 0; number < 16; number++) {
        const bool single = epsilon((trs_dtype)(number / 2 % 4)) > 1e-10;
        problem *b = problem_new(number & 1 ? GRID_FILL : EVERYWHERE, 150,
                                 (trs_dtype)(number / 2 % 4), false, &r);
        const int power = (single ? 100 : 900) * (number / 8 ? 1 : -1);
        for (int64_t k = 0; k < b->p.nnz; k++)
            b->a[k] = ldexp(creal(b->a[k]), power) + I * ldexp(cimag(b->a[k]), power);
        send(b);
        reference ref = solve(b);
        void *val = run(b);
        assert_at_most(error_of(b, &ref, val, b->n), 100);
        free(val);
        reference_free(&ref);
        problem_free(b);
    }
}

static void test_capture(void **state)
{
    random_t r = {28};
    (void)state;
    for (int number = 0; number < 4; number++) {
        problem *b = problem_new(CIRCUIT_FILL, 300, (trs_dtype)number, number & 1, &r);
        cudaStream_t stream;
        cudaGraph_t graph;
        cudaGraphExec_t exec;
        send(b);
        assert_int_equal(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), cudaSuccess);
        const trs_elimination_job job = job_of(b, stream);
        assert_int_equal(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal),
                         cudaSuccess);
        assert_status(trs_elimination_run(b->e, &job), TRS_OK);
        assert_int_equal(cudaStreamEndCapture(stream, &graph), cudaSuccess);
        assert_int_equal(cudaGraphInstantiate(&exec, graph, 0), cudaSuccess);
        for (int step = 0; step < 3; step++) {
            draw_values(b, &r);
            send_values(b);
            reference ref = solve(b);
            free(run(b));
            assert_int_equal(cudaGraphLaunch(exec, stream), cudaSuccess);
            assert_int_equal(cudaStreamSynchronize(stream), cudaSuccess);
            void *val = fetch(b);
            assert_at_most(error_of(b, &ref, val, compare_outcome(b, &ref)), 100);
            free(val);
            reference_free(&ref);
        }
        cudaGraphExecDestroy(exec);
        cudaGraphDestroy(graph);
        cudaStreamDestroy(stream);
        problem_free(b);
    }
}

/* ---- without a device -------------------------------------------------------------------------------------------------- */

/* The reference itself: L U = A where the pattern holds all fill. */
static void test_reference(void **state)
{
    random_t r = {29};
    (void)state;
    problem *b = problem_new(CIRCUIT_FILL, 120, TRS_C64, false, &r);
    reference ref = solve(b),
              start = {.w = taken(b->p.nnz, sizeof(zz)), .bound = taken(b->p.nnz, 8)};
    double worst = 0;
    for (int i = 0; i < b->n; i++) begin_row(b, &start, i);
    for (int i = 0; i < b->n; i++)
        for (int64_t q = b->p.ptr[i]; q < b->p.ptr[i + 1]; q++) {
            const int j = b->p.idx[q];
            zz sum = j >= i ? ref.w[q] : 0;
            for (int64_t s = b->p.ptr[i]; s < b->p.diag[i] && b->p.idx[s] <= j; s++) {
                const int64_t u = entry_at(b, b->p.idx[s], j);
                if (u >= 0) sum += ref.w[s] * ref.w[u];
            }
            const double e = size_of(sum - start.w[q]) / (DBL_EPSILON * ref.o.largest_a);
            if (!(e <= worst)) worst = e;
        }
    assert_at_most(worst, 20);
    reference_free(&ref);
    reference_free(&start);
    problem_free(b);
}

int main(void)
{
    const struct CMUnitTest anywhere[] = {cmocka_unit_test(test_reference)};
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_reference),       cmocka_unit_test(test_factors),
        cmocka_unit_test(test_every_type),      cmocka_unit_test(test_long_rows),
        cmocka_unit_test(test_nothing),         cmocka_unit_test(test_bad_pivots),
        cmocka_unit_test(test_boost_and_shift), cmocka_unit_test(test_far_from_one),
        cmocka_unit_test(test_capture)};
    char why[200];
    setenv("TRISOLVE_ELIMINATION", "entries", 1);
    if (!trs_gpu_probe(0, why, sizeof why)) return cmocka_run_group_tests(tests, NULL, NULL);
    print_message("%s\n", why);
    return cmocka_run_group_tests(anywhere, NULL, NULL);
}
