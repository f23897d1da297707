/* t_fronts.c: factors by fronts are those of the elimination of the full matrix: by the launches of a schedule on the host,
 * and by those on a device. */
#include "fronts_reference.h"

#include "tests/common/device.h"

#include "base/device.h"

#include <math.h>

/* ---- matrices in the order of the pivots -------------------------------------------------------------------- */

typedef enum shape {
    NOTHING, /* n = 0 */
    ONE_ENTRY,
    NO_EDGES, /* a diagonal */
    SPARSE,
    MESH,   /* 5-point, row by row: a chain of fronts */
    DENSE,  /* one large front */
    STAR,   /* the last row and column are full: a root with many children */
    BLOCKS, /* block tridiagonal, blocks of 80: a chain of large fronts */
    TREE, /* full blocks of 90, all of which have the rows of a full block of 150: a large front with large children */
    SHAPES
} shape;

static const int size_of[SHAPES] = {0, 1, 37, 150, 144, 170, 200, 320, 420};

static bool is_entry(shape s, int i, int j, random_t *r)
{
    switch (s) {
    case SPARSE:
        return random_below(r, 40) == 0;
    case MESH:
        return abs(i - j) == 12 || (abs(i - j) == 1 && i / 12 == j / 12);
    case DENSE:
        return true;
    case STAR:
        return i == 199 || j == 199;
    case BLOCKS:
        return abs(i / 80 - j / 80) <= 1 && (i / 80 == j / 80 || random_below(r, 3) == 0);
    case TREE:
        if (i >= 270 && j >= 270) return true;
        if (i < 270 && j < 270) return i / 90 == j / 90;
        return random_below(r, 4) == 0;
    default:
        return false;
    }
}

typedef struct problem {
    int n;
    trs_dtype dtype;
    bool cholesky;
    bool indefinite; /* with cholesky: every third pivot is negative */
    zz *b;           /* [n*n] by columns: the matrix in the order of the pivots, scaled */
    zz *f;           /* [n*n] its factors */
    bool *stored;    /* [n*n] A has the entry, in the order of the pivots */
    bool *filled;    /* [n*n] so have the factors */
    int64_t *P, *Q;  /* [n] */
    double *scale;   /* [n] by row of A; NULL */
    trs_mat A, L, U;
    double largest; /* |b| */
} problem;

static void choose_pattern(problem *q, shape s, random_t *r)
{
    const int n = q->n;
    for (int j = 0; j < n; j++)
        for (int i = 0; i < n; i++) {
            const bool is = i == j || is_entry(s, i, j, r);
            q->stored[j * n + i] |= is;
            if (q->cholesky) q->stored[i * n + j] |= is;
        }
    memcpy(q->filled, q->stored, (size_t)n * (size_t)n);
    for (int k = 0; k < n; k++)
        for (int j = k + 1; j < n; j++)
            for (int i = k + 1; i < n && q->filled[j * n + k]; i++)
                q->filled[j * n + i] |= q->filled[k * n + i];
}

/* A matrix of these, by rows or by columns: entry (i, j) of the order of the pivots is (row [i], column [j]). */
static trs_mat make_mat(const problem *q, const bool *is, int kind, bool by_rows,
                        const int64_t *row, const int64_t *column)
{
    const int n = q->n;
    trs_mat m = {.n = n, .dtype = q->dtype, .format = by_rows ? TRS_CSR : TRS_CSC, .ptr_bits = 64};
    int64_t *ptr = zeroed(n + 2, sizeof *ptr), count = 0;
    int32_t *idx = zeroed((int64_t)n * n, sizeof *idx);
    int *pivot = zeroed(n, sizeof *pivot);
    for (int k = 0; k < n; k++) pivot[by_rows ? row[k] : column[k]] = k;
    for (int major = 0; major < n; major++) {
        const int a = pivot[major];
        for (int b = 0; b < n; b++) {
            const int i = by_rows ? a : b, j = by_rows ? b : a;
            if (!is[j * n + i] || (kind < 0 && i < j) || (kind > 0 && i > j)) continue;
            idx[count++] = (int32_t)(by_rows ? column[j] : row[i]);
        }
        ptr[major + 1] = count;
    }
    free(pivot);
    m.nnz = count;
    m.ptr = ptr;
    m.idx = idx;
    return m;
}

static void mat_done(trs_mat *m)
{
    free((void *)m->ptr);
    free((void *)m->idx);
}

static problem problem_new(shape s, trs_dtype dtype, bool cholesky, int number, random_t *r)
{
    problem q = {.n = size_of[s], .dtype = dtype, .cholesky = cholesky};
    const int64_t n = q.n;
    q.b = zeroed(n * n, sizeof *q.b);
    q.f = zeroed(n * n, sizeof *q.f);
    q.stored = zeroed(n * n, sizeof *q.stored);
    q.filled = zeroed(n * n, sizeof *q.filled);
    q.P = random_order(n, r);
    q.Q = random_order(n, r);
    if (!cholesky && number % 2) q.scale = zeroed(n, sizeof *q.scale);
    for (int k = 0; k < n && q.scale; k++) q.scale[k] = ldexp(1, random_below(r, 5) - 2);
    choose_pattern(&q, s, r);
    int64_t *identity = zeroed(n, sizeof *identity);
    for (int k = 0; k < n; k++) identity[k] = k;
    q.A = make_mat(&q, q.stored, 0, number % 3 != 0, q.P, cholesky ? q.P : q.Q);
    q.L = make_mat(&q, q.filled, -1, !cholesky, identity, identity);
    if (!cholesky) q.U = make_mat(&q, q.filled, 1, false, identity, identity);
    free(identity);
    return q;
}

static void problem_free(problem *q)
{
    free(q->b);
    free(q->f);
    free(q->stored);
    free(q->filled);
    free(q->P);
    free(q->Q);
    free(q->scale);
    mat_done(&q->A);
    mat_done(&q->L);
    mat_done(&q->U);
}

static zz random_number(const problem *q, random_t *r)
{
    const double re = random_uniform(r);
    return trs_is_complex(q->dtype) ? CMPLX(re, random_uniform(r)) : re;
}

/* New values of b, whose rows and columns the diagonal outweighs. */
static void choose_values(problem *q, random_t *r)
{
    const int n = q->n;
    for (int j = 0; j < n; j++)
        for (int i = 0; i < n; i++)
            if (i != j && q->stored[j * n + i]) q->b[j * n + i] = random_number(q, r);
    for (int j = 0; j < n && q->cholesky; j++)
        for (int i = 0; i < j; i++) q->b[i * n + j] = conj(q->b[j * n + i]);
    for (int k = 0; k < n; k++) {
        const bool turned = q->indefinite && k % 3 == 1;
        q->b[k * n + k] = (turned ? -1 : 1) * (1 + (k % 7) / 8.0 + n / 2);
    }
    q->largest = 0;
    for (int64_t p = 0; p < (int64_t)n * n; p++) q->largest = larger(q->largest, cabs(q->b[p]));
}

/* Values of A, in its order, as numbers of its type. */
static void *values_of(const problem *q)
{
    char *a = zeroed(q->A.nnz, trs_size(q->dtype));
    const int n = q->n;
    const int64_t *ptr = q->A.ptr, *Q = q->cholesky ? q->P : q->Q;
    const int32_t *idx = q->A.idx;
    int *row = zeroed(n, sizeof *row), *column = zeroed(n, sizeof *column);
    for (int k = 0; k < n; k++) row[q->P[k]] = k, column[Q[k]] = k;
    for (int l = 0; l < n; l++)
        for (int64_t p = ptr[l]; p < ptr[l + 1]; p++) {
            const int i = q->A.format == TRS_CSR ? l : idx[p],
                      j = q->A.format == TRS_CSR ? idx[p] : l;
            const zz x = q->b[(int64_t)column[j] * n + row[i]];
            set_number(a, q->dtype, p, q->scale ? x / q->scale[i] : x);
        }
    free(row);
    free(column);
    return a;
}

/* f = the factors of b, by columns; L unscaled diagonal is that of U, or of L L^H. */
static void eliminate_full(problem *q)
{
    const int n = q->n;
    zz *f = q->f;
    memcpy(f, q->b, (size_t)n * (size_t)n * sizeof *f);
    for (int k = 0; k < n; k++) {
        for (int i = k + 1; i < n; i++) f[k * n + i] /= f[k * n + k];
        for (int j = k + 1; j < n; j++)
            for (int i = k + 1; i < n && q->filled[j * n + k]; i++)
                f[j * n + i] -= f[k * n + i] * f[j * n + k];
    }
    for (int k = 0; k < n && q->cholesky; k++) {
        const double root = sqrt(fabs(creal(f[k * n + k])));
        f[k * n + k] = root;
        for (int i = k + 1; i < n; i++) f[k * n + i] *= root;
    }
}

/* The largest difference between factors and those of the full matrix; val: of type d, in the order of m. */
static double difference(const problem *q, const trs_mat *m, const void *val, trs_dtype d,
                         bool is_l)
{
    const int64_t n = q->n, *ptr = m->ptr;
    const int32_t *idx = m->idx;
    double worst = 0;
    for (int64_t l = 0; l < n; l++)
        for (int64_t p = ptr[l]; p < ptr[l + 1]; p++) {
            const int64_t i = m->format == TRS_CSR ? l : idx[p],
                          j = m->format == TRS_CSR ? idx[p] : l;
            const bool one = is_l && !q->cholesky && i == j;
            const double e = cabs(get_number(val, d, p) - (one ? 1 : q->f[j * n + i]));
            worst = larger(worst, e);
        }
    return worst;
}

/* Little is left of what a diagonal that outweighs its row would let grow. */
static double tolerance(const problem *q)
{
    return 30 * epsilon(q->dtype) * (q->largest + 1);
}

static trs_fronts_pattern pattern_of(const problem *q)
{
    return (trs_fronts_pattern){.dtype = q->dtype,
                                .cholesky = q->cholesky,
                                .indefinite = q->indefinite,
                                .A = &q->A,
                                .L = &q->L,
                                .U = &q->U,
                                .P = q->P,
                                .Q = q->Q,
                                .scale = q->scale};
}

/* ---- on the host ------------------------------------------------------------------------------------------------- */

static void check_tree(const trs_front_tree *t)
{
    int32_t column = 0;
    for (int32_t s = 0; s < t->count; s++) {
        const trs_front *f = &t->front[s];
        assert_int_equal(f->first, column);
        column += f->cols;
        assert_true(f->cols > 0 && f->parent != s && (f->parent > s || f->parent == -1));
        assert_true(f->parent >= 0 || f->rows == 0);
        for (int32_t k = 0; k < f->rows; k++) {
            const int32_t row = t->row[f->row + k];
            assert_true(row >= column && (k == 0 || row > t->row[f->row + k - 1]));
            const trs_front *up = &t->front[f->parent];
            for (int32_t near = 0; near <= up->rows; near += 1 + up->rows / 3) {
                int32_t at = near;
                assert_int_equal(trs_front_find(t, up, row, &at), t->to[f->row + k]);
                assert_true(at >= 0 && at <= up->rows);
            }
        }
        if (f->parent >= 0) assert_true(t->front[f->parent].level > f->level);
    }
    assert_int_equal(column, t->n);
    for (int32_t k = 0; k < t->n; k++) assert_int_equal(t->place[t->pivot[k]], k);
}

static zz *gathered(const zz *panels, const int64_t *from, int64_t count)
{
    zz *val = zeroed(count, sizeof *val);
    for (int64_t e = 0; e < count; e++) {
        if (from[e] >= 0) val[e] = panels[from[e]];
        else val[e] = from[e] == TRS_FRONT_ONE;
    }
    return val;
}

static void run_on_host(problem *q, const trs_front_tree *t, const trs_front_schedule *s,
                        const trs_front_places *places)
{
    fronts_reference ref = {.t = t, .s = s, .cholesky = q->cholesky};
    ref.panels = zeroed(s->panels, sizeof *ref.panels);
    ref.pool = zeroed(s->pool, sizeof *ref.pool);
    char *a = values_of(q);
    for (int64_t e = 0; e < places->entries; e++) {
        const zz x = get_number(a, q->dtype, places->from[e]);
        const int64_t to = places->to[e];
        ref.panels[to < 0 ? ~to : to] =
            (to < 0 ? conj(x) : x) * (places->row ? q->scale[places->row[e]] : 1);
    }
    fronts_reference_run(&ref);
    zz *l = gathered(ref.panels, places->l, places->lnz);
    zz *u = gathered(ref.panels, places->u, places->unz);
    assert_at_most(difference(q, &q->L, l, TRS_C64, true), tolerance(q));
    if (!q->cholesky) assert_at_most(difference(q, &q->U, u, TRS_C64, false), tolerance(q));
    free(ref.panels);
    free(ref.pool);
    free(a);
    free(l);
    free(u);
}

typedef struct schedule { /* of the fronts of a problem */
    trs_context ctx;
    trs_fronts_pattern p;
    trs_front_tree t;
    trs_front_schedule s;
    trs_front_places places;
    int32_t *i, *j; /* entries of A */
} schedule;

static void schedule_begin(schedule *h, const problem *q)
{
    int64_t entries;
    *h = (schedule){.ctx = {.threads = 1}, .p = pattern_of(q)};
    assert_status(trs_front_entries(&h->ctx, &h->p, &entries, &h->i, &h->j), TRS_OK);
    assert_status(trs_front_tree_make(&h->ctx, q->n, entries, h->i, h->j, &h->t), TRS_OK);
    assert_status(trs_front_schedule_make(&h->ctx, &h->t, q->cholesky, &h->s), TRS_OK);
}

/* Returns what it says of the pattern of L and U. */
static int find_places(schedule *h)
{
    return trs_front_places_make(&h->ctx, &h->p, &h->t, &h->s, h->i, h->j, &h->places);
}

static void schedule_end(schedule *h)
{
    trs_front_places_free(&h->ctx, &h->places);
    trs_front_schedule_free(&h->ctx, &h->s);
    trs_front_tree_free(&h->ctx, &h->t);
    free(h->i);
    free(h->j);
}

static void test_host(void **state)
{
    (void)state;
    for (int k = 0; k < SHAPES * 4; k++) {
        random_t r = {(uint64_t)k * 31 + 7};
        static const trs_dtype dtype[] = {TRS_F64, TRS_C64, TRS_C64, TRS_F32};
        problem q = problem_new((shape)(k / 4), dtype[k % 4], k % 2, k, &r);
        schedule h;
        choose_values(&q, &r);
        eliminate_full(&q);
        schedule_begin(&h, &q);
        check_tree(&h.t);
        assert_status(find_places(&h), TRS_OK);
        run_on_host(&q, &h.t, &h.s, &h.places);
        schedule_end(&h);
        problem_free(&q);
    }
}

/* Factors with an entry that cannot come of A are refused. */
static void test_foreign(void **state)
{
    (void)state;
    random_t r = {3};
    problem q = problem_new(NO_EDGES, TRS_F64, false, 0, &r);
    schedule h;
    schedule_begin(&h, &q);
    ((int32_t *)(void *)q.U.idx)[5] = 2; /* (5, 5) becomes (2, 5) */
    assert_status(find_places(&h), TRS_EMATRIX);
    schedule_end(&h);
    problem_free(&q);
}

/* ---- on a device --------------------------------------------------------------------------------------------------- */

typedef struct on_device { /* arrays of a job, and what comes back */
    trs_context ctx;
    trs_fronts *f;
    trs_fronts_job job;
    void *a;
    void *l, *u; /* on the host */
    int8_t *sign;
    trs_elimination_outcome outcome;
} on_device;

/* The fronts keep the context, so that d must stay where it is. */
static void device_begin(on_device *d, const problem *q)
{
    const trs_fronts_pattern p = pattern_of(q);
    const size_t size = trs_size(q->dtype);
    *d = (on_device){.ctx = {.threads = 1}};
    assert_status(trs_fronts_create(&d->ctx, &p, &d->f), TRS_OK);
    d->job.a = d->a = trs_gpu_new(&d->ctx, q->A.nnz, size, "A");
    d->job.l = trs_gpu_new(&d->ctx, q->L.nnz, size, "L");
    d->job.u = q->cholesky ? NULL : trs_gpu_new(&d->ctx, q->U.nnz, size, "U");
    d->job.outcome = trs_gpu_new(&d->ctx, 1, sizeof d->outcome, "the outcome");
    if (q->indefinite) d->job.sign = trs_gpu_new(&d->ctx, q->n, 1, "the signs of pivots");
    d->sign = zeroed(q->n, 1);
    d->l = zeroed(q->L.nnz, size);
    d->u = zeroed(q->U.nnz, size);
    assert_true(d->job.a && d->job.l && d->job.outcome && (d->job.u || q->cholesky));
}

static void device_end(on_device *d)
{
    trs_fronts_destroy(d->f);
    trs_gpu_free(&d->ctx, d->a);
    trs_gpu_free(&d->ctx, d->job.l);
    trs_gpu_free(&d->ctx, d->job.u);
    trs_gpu_free(&d->ctx, d->job.outcome);
    trs_gpu_free(&d->ctx, d->job.sign);
    free(d->sign);
    trs_gpu_drop_ring(&d->ctx);
    free(d->l);
    free(d->u);
}

static void device_run(on_device *d, const problem *q)
{
    const size_t size = trs_size(q->dtype);
    char *a = values_of(q);
    assert_status(trs_gpu_put(&d->ctx, d->a, a, (size_t)q->A.nnz * size), TRS_OK);
    assert_status(trs_fronts_run(d->f, &d->job), TRS_OK);
    assert_status(trs_gpu_wait(NULL), TRS_OK);
    assert_status(trs_gpu_get(&d->ctx, d->l, d->job.l, (size_t)q->L.nnz * size), TRS_OK);
    if (!q->cholesky)
        assert_status(trs_gpu_get(&d->ctx, d->u, d->job.u, (size_t)q->U.nnz * size), TRS_OK);
    assert_status(trs_gpu_get(&d->ctx, &d->outcome, d->job.outcome, sizeof d->outcome), TRS_OK);
    if (d->job.sign)
        assert_status(trs_gpu_get(&d->ctx, d->sign, d->job.sign, (size_t)q->n), TRS_OK);
    free(a);
}

/* The largest |l(i, k) u(k, j)| of the full factors, l(k, k) = 1. */
static double largest_product(const problem *q)
{
    const int64_t n = q->n;
    double most = 0;
    for (int64_t k = 0; k < n; k++) {
        double l = 1, u = cabs(q->f[k * n + k]);
        for (int64_t i = k + 1; i < n; i++) {
            if (q->filled[k * n + i]) l = larger(l, cabs(q->f[k * n + i]));
            if (q->filled[i * n + k]) u = larger(u, cabs(q->f[i * n + k]));
        }
        most = larger(most, l * u);
    }
    return most;
}

/* The largest |l|^2, |z| = |Re z| + |Im z|. */
static double largest_square(const problem *q)
{
    double most = 0;
    for (int64_t k = 0; k < q->n; k++)
        for (int64_t i = k; i < q->n; i++) {
            const zz l = q->f[k * q->n + i];
            if (q->filled[k * q->n + i]) most = larger(most, fabs(creal(l)) + fabs(cimag(l)));
        }
    return most * most;
}

static void check_outcome(const problem *q, const trs_elimination_outcome *o)
{
    if (q->indefinite) assert_at_most(fabs(o->largest - largest_square(q)), 10 * tolerance(q));
    assert_true(o->bad == 0 && o->first == UINT64_MAX && o->boosted == 0);
    assert_at_most(fabs(o->largest_a - q->largest), tolerance(q));
    if (!q->cholesky) assert_at_most(fabs(o->largest - largest_product(q)), 10 * tolerance(q));
}

/* New values twice, and the old ones again, which give the same bits. */
static void check_on_device(problem *q, random_t *r)
{
    on_device d;
    device_begin(&d, q);
    void *before = zeroed(q->L.nnz, trs_size(q->dtype));
    for (int again = 0; again < 3; again++) {
        if (again < 2) {
            choose_values(q, r);
            eliminate_full(q);
        }
        device_run(&d, q);
        assert_at_most(difference(q, &q->L, d.l, q->dtype, true), tolerance(q));
        if (!q->cholesky) assert_at_most(difference(q, &q->U, d.u, q->dtype, false), tolerance(q));
        check_outcome(q, &d.outcome);
        for (int k = 0; k < q->n && q->indefinite; k++)
            assert_int_equal(d.sign[k], k % 3 == 1 ? -1 : 1);
        if (again == 2) assert_memory_equal(before, d.l, (size_t)q->L.nnz * trs_size(q->dtype));
        memcpy(before, d.l, (size_t)q->L.nnz * trs_size(q->dtype));
    }
    free(before);
    device_end(&d);
}

static void test_device(void **state)
{
    (void)state;
    for (int k = 0; k < SHAPES * 8; k += case_step()) {
        random_t r = {(uint64_t)k * 17 + 1};
        problem q = problem_new((shape)(k / 8), (trs_dtype)(k % 4), k / 4 % 2, k, &r);
        check_on_device(&q, &r);
        problem_free(&q);
    }
}

static void test_indefinite(void **state)
{
    (void)state;
    for (int k = 0; k < SHAPES * 4; k += case_step()) {
        random_t r = {(uint64_t)k * 19 + 5};
        problem q = problem_new((shape)(k / 4), (trs_dtype)(k % 4), true, k, &r);
        q.indefinite = true;
        check_on_device(&q, &r);
        problem_free(&q);
    }
}

/* Pivot 20, -5 or 1e-9, which has a row of its own but for entries of 1e-6, becomes boost times the largest number of its row, in a
 * small front and in a large one. */
static void test_boost(void **state)
{
    (void)state;
    for (int k = 0; k < 8; k++) {
        random_t r = {(uint64_t)k};
        problem q = problem_new(k % 2 ? DENSE : STAR, k / 4 ? TRS_C64 : TRS_F64, true, 0, &r);
        const bool wrong = k / 2 % 2;
        const double largest = wrong ? 5 : 1e-6, pivot = 0.25 * largest;
        int8_t *signs = zeroed(q.n, 1);
        on_device d;
        q.indefinite = true;
        device_begin(&d, &q);
        choose_values(&q, &r);
        for (int i = 0; i < q.n; i++)
            for (int j = 0; j < q.n; j++)
                if ((i == 20) != (j == 20) && q.stored[j * q.n + i])
                    q.b[j * q.n + i] = wrong ? 0 : 1e-6;
        for (int i = 0; i < 20; i++) q.b[20 * q.n + i] = q.b[i * q.n + 20] = 0;
        q.b[20 * q.n + 20] = wrong ? -5 : 1e-9;
        signs[20] = 1;
        d.job.boost = 0.25;
        d.job.signs = trs_gpu_new(&d.ctx, q.n, 1, "signs");
        assert_status(trs_gpu_put(&d.ctx, (void *)d.job.signs, signs, (size_t)q.n), TRS_OK);
        device_run(&d, &q);
        q.b[20 * q.n + 20] = pivot;
        eliminate_full(&q);
        assert_int_equal(d.outcome.boosted, 1);
        assert_int_equal(d.outcome.first_boosted, 20);
        assert_int_equal(d.outcome.bad, 0);
        assert_int_equal(d.sign[20], 1);
        assert_at_most(difference(&q, &q.L, d.l, q.dtype, true), tolerance(&q));
        trs_gpu_free(&d.ctx, (void *)d.job.signs);
        device_end(&d);
        free(signs);
        problem_free(&q);
    }
}

/* A pivot that is zero, negative or not finite is counted, and the first one named, in a small front and in a large one. */
static void test_pivots(void **state)
{
    (void)state;
    static const double bad[] = {0, -5, NAN};
    for (int k = 0; k < 12; k++) {
        random_t r = {(uint64_t)k};
        const bool cholesky = k % 2, large = k / 2 % 2;
        if (!cholesky && k / 4 == 1) continue; /* a negative pivot is none the worse for it */
        problem q = problem_new(large ? DENSE : NO_EDGES, TRS_F64, cholesky, 0, &r);
        on_device d;
        device_begin(&d, &q);
        choose_values(&q, &r);
        for (int i = 0; i < q.n; i++) /* the row and the column of the pivot have no other entry */
            for (int j = 0; j < q.n; j++)
                if ((i == 20) != (j == 20)) q.b[j * q.n + i] = 0;
        q.b[20 * q.n + 20] = bad[k / 4];
        device_run(&d, &q);
        assert_true(d.outcome.bad >= 1);
        assert_int_equal(d.outcome.first, 4 * 20 + k / 4 + 1);
        device_end(&d);
        problem_free(&q);
    }
}

/* U has no entry for a number of the factors: nobody could tell from L and U, so the growth is said to be infinite, unless
 * the number is negligible. */
static void test_no_entry(void **state)
{
    (void)state;
    for (int k = 0; k < 4; k++) {
        random_t r = {(uint64_t)k};
        problem q = problem_new(k % 2 ? DENSE : SPARSE, TRS_F64, false, 0, &r);
        int64_t *ptr = (int64_t *)(void *)q.U.ptr;
        int32_t *idx = (int32_t *)(void *)q.U.idx;
        const int64_t first = ptr[q.n - 1], row = idx[first];
        assert_true(row < q.n - 1);
        memmove(idx + first, idx + first + 1, (size_t)(ptr[q.n] - first - 1) * sizeof *idx);
        q.U.nnz = --ptr[q.n];
        on_device d;
        device_begin(&d, &q);
        choose_values(&q, &r);
        if (k >= 2) q.b[(int64_t)(q.n - 1) * q.n + row] = 1e-14;
        device_run(&d, &q);
        assert_true(isinf(d.outcome.largest) == (k < 2));
        device_end(&d);
        problem_free(&q);
    }
}

int main(void)
{
    const struct CMUnitTest host[] = {cmocka_unit_test(test_host), cmocka_unit_test(test_foreign)};
    const struct CMUnitTest all[] = {
        cmocka_unit_test(test_host),       cmocka_unit_test(test_foreign),
        cmocka_unit_test(test_device),     cmocka_unit_test(test_pivots),
        cmocka_unit_test(test_indefinite), cmocka_unit_test(test_boost),
        cmocka_unit_test(test_no_entry)};
    if (has_device()) return cmocka_run_group_tests(all, NULL, NULL);
    return cmocka_run_group_tests(host, NULL, NULL);
}
