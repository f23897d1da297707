/* t_lu_batch.c: many systems of one pattern, factored with the pivots of one of them: each x by its own matrix and against
 * LAPACK, on the host and on a device; the same bits whatever the neighbours; bad systems among good ones. */
#include "tests/common/counter.h"
#include "tests/common/device.h"
#include "tests/common/full.h"
#include "tests/common/place.h"

#ifdef HAVE_SUITESPARSE
#include "trisolve-suitesparse.h"
#endif
#ifdef HAVE_LAPACKE
#include <lapacke.h>
#endif

enum { N = 24, SYSTEMS = 37, RHS = 6 };

/* ---- systems -------------------------------------------------------------------------------- */

typedef struct systems {
    full A[SYSTEMS];
    form f;
    trs_mat mat; /* of the first */
    int64_t stride;
    char *val; /* [stride*SYSTEMS] */
} systems;

static zz rounded(zz v)
{
    return (float)creal(v) + (float)cimag(v) * I;
}

/* The same pattern.  A float has all of the values.  A Hermitian matrix remains one. */
static full other_values(const full *A, int k)
{
    const int n = A->n;
    full to = full_new(n, A->is_complex);
    bool hermitian_one = true;
    for (int p = 0; p < n * n; p++) hermitian_one &= A->a[p] == conj(A->a[p / n + n * (p % n)]);
    for (int p = 0; p < n * n; p++) to.a[p] = rounded(A->a[p] * (k ? 1 + uniform() / 5 : 1));
    for (int p = 0; p < n * n && hermitian_one; p++) to.a[p] = conj(to.a[p / n + n * (p % n)]);
    return to;
}

/* The values of system k, again. */
static void show_values(systems *s, int k)
{
    const size_t size = size_of(s->mat.dtype);
    trs_mat m = show_full(&s->A[k], &s->f);
    assert_int_equal(m.nnz, s->mat.nnz);
    memcpy(s->val + (size_t)(k * s->stride) * size, m.val, (size_t)m.nnz * size);
    hide(&m);
}

static systems systems_of(full first, const form *f)
{
    systems s = {.f = *f};
    for (int k = 0; k < SYSTEMS; k++) s.A[k] = other_values(&first, k);
    s.mat = show_full(&s.A[0], f);
    s.stride = s.mat.nnz + 3;
    s.val = calloc((size_t)(s.stride * SYSTEMS), 16);
    for (int k = 0; k < SYSTEMS; k++) show_values(&s, k);
    free(first.a);
    return s;
}

static void systems_free(systems *s)
{
    for (int k = 0; k < SYSTEMS; k++) free(s->A[k].a);
    hide(&s->mat);
    free(s->val);
}

/* Factors that have P, Q and a scaling: those of the identity.  Pivots are the large entries of unsymmetric (). */
static trs_lu *pivots_of(const systems *s)
{
    const int n = s->A[0].n;
    int64_t *ptr = calloc((size_t)n + 1, 8), *P = calloc((size_t)n + 1, 8),
            *Q = calloc((size_t)n + 1, 8);
    int32_t *idx = calloc((size_t)n + 1, 4);
    double *scale = calloc((size_t)n + 1, 8);
    char *one = calloc((size_t)n + 1, 16);
    trs_mat L = {.n = n, .nnz = n, .ptr = ptr, .idx = idx, .val = one, .kind = TRS_LOWER}, U;
    trs_lu *lu;
    L.dtype = s->mat.dtype;
    for (int k = 0; k < n; k++) {
        ptr[k + 1] = k + 1, idx[k] = k, P[k] = k;
        set_value(one, L.dtype, k, 1);
        scale[k] = 1.5 + uniform();
    }
    for (int k = n - 1; k > 0; k--) {
        const int m = (int)((uniform() + 1) / 2 * (k + 1)) % (k + 1);
        const int64_t t = P[k];
        P[k] = P[m], P[m] = t;
    }
    for (int k = 0; k < n; k++) Q[k] = (P[k] + n / 3) % n;
    U = L;
    U.kind = TRS_UPPER;
    assert_int_equal(trs_lu_import(&lu, &L, &U, P, Q, scale, NULL), TRS_OK);
    free(ptr), free(P), free(Q), free(idx), free(scale), free(one);
    return lu;
}

static trs_lu_batch *batch_with(const trs_lu *lu, const trs_mat *A, trs_lu_batch_options opt)
{
    trs_lu_batch *b;
    if (there) opt.device = TRS_CUDA(0);
    const int rc = trs_lu_batch_create(&b, lu, A, &opt);
    if (rc) print_message("%s\n", trs_message());
    assert_int_equal(rc, TRS_OK);
    return b;
}

static trs_lu_batch *batch_of(const systems *s, trs_lu_batch_options opt)
{
    trs_lu *lu = pivots_of(s);
    opt.count = SYSTEMS;
    trs_lu_batch *b = batch_with(lu, &s->mat, opt);
    trs_lu_destroy(lu); /* it is not needed any more */
    return b;
}

/* ---- solving -------------------------------------------------------------------------------- */

typedef struct task {
    trs_op op;
    int nrhs, threads, steps;
    trs_layout layout;
    bool pointers, kept, shared_b;
    const unsigned char *mask;
    double *omega;
} task;

typedef struct vectors { /* on the host */
    int n;
    int64_t ld, stride;
    trs_dtype type;
    char *b, *x; /* [stride*SYSTEMS] */
} vectors;

static vectors vectors_new(const systems *s, const task *t)
{
    vectors v = {.n = s->A[0].n, .type = s->mat.dtype};
    v.ld = (t->layout == TRS_ROW_MAJOR ? t->nrhs : v.n) + 2;
    v.stride = v.ld * (t->layout == TRS_ROW_MAJOR ? v.n : t->nrhs) + 1;
    v.b = calloc((size_t)(v.stride * SYSTEMS) + 1, 16);
    v.x = calloc((size_t)(v.stride * SYSTEMS) + 1, 16);
    for (int64_t k = 0; k < v.stride * SYSTEMS; k++)
        set_value(v.b, v.type, k, number(s->A[0].is_complex));
    return v;
}

static void vectors_free(vectors *v)
{
    free(v->b);
    free(v->x);
}

static int64_t at(const vectors *v, const task *t, int k, int i, int c)
{
    const bool rows = t->layout == TRS_ROW_MAJOR;
    return k * v->stride + (rows ? i * v->ld + c : i + c * v->ld);
}

/* Arrays of one call where the batch has them. */
typedef struct call {
    trs_systems s;
    void *val, *val_of, *mask, *omega;
} call;

static call call_new(const systems *s, const task *t)
{
    const size_t size = size_of(s->mat.dtype);
    call c = {.s = {.count = SYSTEMS, .val_stride = s->stride, .kept = t->kept, .steps = t->steps}};
    const void *val_of[SYSTEMS];
    const double none[SYSTEMS] = {0};
    c.s.val = c.val = place(s->val, (size_t)(s->stride * SYSTEMS) * size);
    if (t->pointers) {
        for (int k = 0; k < SYSTEMS; k++)
            val_of[k] = (char *)c.val + (size_t)(k * s->stride) * size;
        c.s.val = NULL;
        c.s.val_of = c.val_of = place(val_of, sizeof val_of);
    }
    if (t->mask) c.s.mask = c.mask = place(t->mask, SYSTEMS);
    if (t->omega) c.s.omega = c.omega = place(none, sizeof none);
    return c;
}

static void call_free(call *c)
{
    void *const all[] = {c->val, c->val_of, c->mask, c->omega};
    for (int k = 0; k < 4; k++)
        if (all[k]) unplace(all[k]);
}

static void solve(trs_lu_batch *b, const systems *s, const task *t, vectors *v)
{
    const size_t bytes = (size_t)(v->stride * SYSTEMS) * size_of(v->type);
    const trs_exec exec = {.threads = t->threads, .layout = t->layout};
    call c = call_new(s, t);
    void *B = place(v->b, bytes), *X = place(v->x, bytes);
    c.s.b_stride = t->shared_b ? 0 : v->stride;
    c.s.x_stride = v->stride;
    const int rc = trs_lu_batch_solve(b, t->op, t->nrhs, &c.s, B, v->ld, X, v->ld, &exec);
    if (rc) print_message("%s\n", trs_message());
    assert_int_equal(rc, TRS_OK);
    bring(v->x, X, bytes);
    if (t->omega) bring(t->omega, c.omega, SYSTEMS * sizeof *t->omega);
    unplace(B);
    unplace(X);
    call_free(&c);
}

static void update(trs_lu_batch *b, const systems *s, const task *t)
{
    call c = call_new(s, t);
    assert_int_equal(trs_lu_batch_update(b, &c.s, NULL), TRS_OK);
    assert_int_equal(trs_lu_batch_status(b, NULL, NULL, NULL, NULL), TRS_OK);
    call_free(&c);
}

static zz entry(const full *A, trs_op op, int i, int j)
{
    if (op == TRS_N) return A->a[i + A->n * j];
    return op == TRS_T ? A->a[j + A->n * i] : conj(A->a[j + A->n * i]);
}

/* The backward error of x of system k, in its column c: |b - op(A) x| / (|op(A)| |x| + |b|). */
static double error_of(const systems *s, const vectors *v, const task *t, int k, int c)
{
    double worst = 0;
    for (int i = 0; i < v->n; i++) {
        zz r = get_value(v->b, v->type, at(v, t, t->shared_b ? 0 : k, i, c));
        double size = cabs(r);
        for (int j = 0; j < v->n; j++) {
            const zz p = entry(&s->A[k], t->op, i, j) * get_value(v->x, v->type, at(v, t, k, j, c));
            r -= p;
            size += cabs(p);
        }
        if (cabs(r) != 0) worst = larger(worst, cabs(r) / size);
    }
    return worst;
}

#ifdef HAVE_LAPACKE
/* How far x of system k is from that of LAPACK, relative to the largest number of it. */
static double apart_from_lapack(const systems *s, const vectors *v, const task *t, int k, int c)
{
    zz a[N * N], x[N];
    lapack_int pivot[N];
    const int n = v->n;
    double apart = 0, size = 0;
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) a[i + n * j] = entry(&s->A[k], t->op, i, j);
    for (int i = 0; i < n; i++)
        x[i] = get_value(v->b, v->type, at(v, t, t->shared_b ? 0 : k, i, c));
    assert_int_equal(LAPACKE_zgetrf(LAPACK_COL_MAJOR, n, n, a, n, pivot), 0);
    assert_int_equal(LAPACKE_zgetrs(LAPACK_COL_MAJOR, 'N', n, 1, a, n, pivot, x, n), 0);
    for (int i = 0; i < n; i++) {
        apart = larger(apart, cabs(x[i] - get_value(v->x, v->type, at(v, t, k, i, c))));
        size = larger(size, cabs(x[i]));
    }
    return apart / size;
}
#endif

static void check_x(const systems *s, const vectors *v, const task *t)
{
    const double eps = eps_of(v->type);
    double worst = 0, apart = 0;
    for (int k = 0; k < SYSTEMS; k++)
        for (int c = 0; c < t->nrhs; c++) {
            if (t->mask && !t->mask[k]) continue;
            worst = larger(worst, error_of(s, v, t, k, c));
#ifdef HAVE_LAPACKE
            apart = larger(apart, apart_from_lapack(s, v, t, k, c));
#endif
        }
    print_message("%s op %s, %d columns, %d steps: error %.1f eps, from LAPACK %.1f eps\n",
                  type_name[v->type], op_name[t->op], t->nrhs, t->steps, worst / eps, apart / eps);
    assert_true(worst <= (t->steps ? 4 : 1000) * (s->A[0].is_complex ? 2 : 1) * eps);
    assert_true(apart <= 1e5 * eps);
}

/* X of systems that are left out stays as it is. */
static void check_mask(const vectors *v, const task *t, const char *x)
{
    const size_t bytes = (size_t)v->stride * size_of(v->type);
    for (int k = 0; k < SYSTEMS && t->mask; k++)
        if (!t->mask[k])
            assert_memory_equal(v->x + (size_t)k * bytes, x + (size_t)k * bytes, bytes);
}

/* ---- cases ---------------------------------------------------------------------------------- */

static const unsigned char some[SYSTEMS] = {[1] = 1, [2] = 1, [7] = 1, [8] = 1, [20] = 1, [36] = 1};

static void check_task(trs_lu_batch *b, const systems *s, const task *t)
{
    vectors v = vectors_new(s, t);
    const size_t bytes = (size_t)(v.stride * SYSTEMS) * size_of(v.type);
    char *before = malloc(bytes);
    memset(v.x, 7, bytes);
    memcpy(before, v.x, bytes);
    solve(b, s, t, &v);
    check_x(s, &v, t);
    check_mask(&v, t, before);
    free(before);
    vectors_free(&v);
}

static void check_form(const form *f, bool is_complex)
{
    systems s = systems_of(unsymmetric(N, is_complex), f);
    trs_lu_batch *b = batch_of(&s, (trs_lu_batch_options){0});
    int64_t bad = -1;
    for (trs_op op = TRS_N; op <= TRS_H; op++)
        for (int k = 0; k < 6; k++) {
            const task t = {.op = op,
                            .nrhs = (int[]){1, 2, RHS, 4, 1, 5}[k],
                            .threads = 1 + k % 3,
                            .steps = k >= 3,
                            .layout = k % 2 ? TRS_ROW_MAJOR : TRS_COL_MAJOR,
                            .pointers = k == 2 || k == 3,
                            .shared_b = k == 1,
                            .mask = k == 2 || k == 5 ? some : NULL};
            check_task(b, &s, &t);
        }
    assert_int_equal(trs_lu_batch_status(b, &bad, NULL, NULL, NULL), TRS_OK);
    assert_int_equal(bad, 0);
    trs_lu_batch_destroy(b);
    systems_free(&s);
}

static void test_forms(void **state)
{
    (void)state;
    for (int k = 0; k < FORMS; k++)
        for (int c = 0; c < 2 && forms[k].format != TRS_DENSE; c++) check_form(&forms[k], c);
}

/* Factors that are kept are those of the last update that had their system. */
static void check_kept(bool is_complex)
{
    systems s = systems_of(unsymmetric(N, is_complex), &plain);
    trs_lu_batch *b = batch_of(&s, (trs_lu_batch_options){.keep = 1});
    task t = {.nrhs = 2};
    update(b, &s, &t);
    for (int k = 0; k < SYSTEMS; k++) {
        if (!some[k]) continue;
        full old = s.A[k];
        s.A[k] = other_values(&old, 1);
        free(old.a);
        show_values(&s, k);
    }
    t.mask = some;
    update(b, &s, &t);
    t.mask = NULL;
    t.kept = true;
    for (t.op = TRS_N; t.op <= TRS_H; t.op++) check_task(b, &s, &t);
    t.op = TRS_T;
    t.steps = 2;
    check_task(b, &s, &t);
    trs_lu_batch_destroy(b);
    systems_free(&s);
}

/* Factors that are kept do not become good or bad by others, that a solve makes for itself. */
static void check_kept_apart(void)
{
    systems s = systems_of(unsymmetric(N, false), &plain);
    trs_lu_batch *b = batch_of(&s, (trs_lu_batch_options){.keep = 1});
    task t = {.nrhs = 1};
    vectors v = vectors_new(&s, &t);
    solve(b, &s, &t, &v);
    t.kept = true;
    solve(b, &s, &t, &v); /* there are none yet */
    for (int k = 0; k < SYSTEMS; k++)
        assert_true(isnan(creal(get_value(v.x, v.type, at(&v, &t, k, 0, 0)))));
    t.kept = false;
    update(b, &s, &t);
    char *was = malloc((size_t)s.stride * SYSTEMS * 8);
    memcpy(was, s.val, (size_t)s.stride * SYSTEMS * 8);
    memset(s.val, 0xff, (size_t)s.stride * SYSTEMS * 8); /* NaN */
    solve(b, &s, &t, &v);
    memcpy(s.val, was, (size_t)s.stride * SYSTEMS * 8);
    t.kept = true;
    check_task(b, &s, &t);
    free(was);
    vectors_free(&v);
    trs_lu_batch_destroy(b);
    systems_free(&s);
}

static void test_kept(void **state)
{
    (void)state;
    check_kept(false);
    check_kept(true);
    check_kept_apart();
}

/* Alone, with others, with a mask, from kept factors: the same bits. */
static void test_bits(void **state)
{
    (void)state;
    systems s = systems_of(unsymmetric(N, false), &plain);
    trs_lu_batch *b = batch_of(&s, (trs_lu_batch_options){.keep = 1, .threads = 3});
    task t = {.nrhs = RHS};
    vectors v = vectors_new(&s, &t);
    const size_t bytes = (size_t)v.stride * 8, all = bytes * SYSTEMS;
    char *first = malloc(all);
    solve(b, &s, &t, &v);
    memcpy(first, v.x, all);
    update(b, &s, &t);
    t.kept = true;
    solve(b, &s, &t, &v);
    assert_memory_equal(first, v.x, all);
    t.kept = false;
    for (int k = 0; k < SYSTEMS; k++) {
        unsigned char one[SYSTEMS] = {0};
        one[k] = 1;
        t.mask = one;
        memset(v.x, 0, all);
        solve(b, &s, &t, &v);
        assert_memory_equal(first + (size_t)k * bytes, v.x + (size_t)k * bytes, bytes);
    }
    free(first);
    vectors_free(&v);
    trs_lu_batch_destroy(b);
    systems_free(&s);
}

/* Entry (i, j) of system k. */
static void set_entry(systems *s, int k, int i, int j, zz v)
{
    assert_true(s->A[k].a[i + N * j] != 0);
    s->A[k].a[i + N * j] = v;
    show_values(s, k);
}

enum { TINY = 5, ZERO = 6, NOT_A_NUMBER = 12, INFINITE = 13, INFINITE_PIVOT = 21, GROWING = 30 };

/* Tridiagonal systems, so that rows of A are pivots in their order; the pivot of row 0 is a(0, 0). */
static systems with_bad_ones(bool is_complex)
{
    full A = full_new(N, is_complex);
    for (int i = 0; i < N; i++) {
        A.a[i + N * i] = 4 + uniform();
        if (i) A.a[i + N * (i - 1)] = number(is_complex), A.a[i - 1 + N * i] = number(is_complex);
    }
    systems s = systems_of(A, &plain);
    set_entry(&s, TINY, 0, 0, 0x1p-1070); /* its inverse overflows */
    set_entry(&s, NOT_A_NUMBER, 9, 9, NAN);
    set_entry(&s, INFINITE, 17, 18, INFINITY);
    set_entry(&s, INFINITE_PIVOT, 20, 20, INFINITY);
    set_entry(&s, GROWING, 0, 0, 1e-12);
    set_value(s.val, s.mat.dtype, ZERO * s.stride, 0);
    return s;
}

static bool is_spoiled(int k)
{
    return k == TINY || k == ZERO || k == NOT_A_NUMBER || k == INFINITE || k == INFINITE_PIVOT;
}

static int expected(int k)
{
    if (is_spoiled(k)) return TRS_EPIVOT;
    return k == GROWING ? TRS_EGROWTH : TRS_OK;
}

static void check_bad(bool is_complex)
{
    systems s = with_bad_ones(is_complex);
    const trs_ilu_options o = {.level = 0}; /* tridiagonal: complete */
    trs_lu *lu;
    int64_t bad, row[SYSTEMS];
    double growth[SYSTEMS];
    int code[SYSTEMS];
    unsigned char good[SYSTEMS];
    task t = {.nrhs = 2};
    assert_int_equal(trs_ilu(&lu, &s.mat, &o), TRS_OK);
    trs_lu_batch *b = batch_with(lu, &s.mat, (trs_lu_batch_options){.count = SYSTEMS});
    trs_lu_destroy(lu);
    assert_int_equal(trs_lu_batch_status(b, &bad, code, NULL, NULL), TRS_OK);
    assert_true(bad == 0 && code[0] == TRS_ESTATE);
    vectors v = vectors_new(&s, &t);
    solve(b, &s, &t, &v);
    assert_int_equal(trs_lu_batch_status(b, &bad, code, row, growth), TRS_EPIVOT);
    print_message("%s; growth %.3g, others %.3g\n", trs_message(), growth[GROWING], growth[0]);
    assert_true(strstr(trs_message(), "system 5, row 0"));
    for (int k = 0; k < SYSTEMS; k++) {
        assert_int_equal(code[k], expected(k));
        good[k] = code[k] == TRS_OK;
        if (good[k]) assert_true(row[k] == -1 && growth[k] > 0.5 && growth[k] < 10);
        for (int i = 0; i < N && is_spoiled(k); i++)
            assert_true(isnan(creal(get_value(v.x, v.type, at(&v, &t, k, i, 1)))));
    }
    assert_true(growth[GROWING] > 1e6 && row[GROWING] == -1);
    assert_true(row[TINY] == 0 && row[ZERO] == 0 && row[NOT_A_NUMBER] == 9 && row[INFINITE] == 17);
    assert_int_equal(row[INFINITE_PIVOT], 20);
    t.mask = good;
    check_x(&s, &v, &t);
    vectors_free(&v);
    trs_lu_batch_destroy(b);
    systems_free(&s);
}

static void test_bad(void **state)
{
    (void)state;
    check_bad(false);
    check_bad(true);
}

#ifdef HAVE_SUITESPARSE

/* Systems that do not suit the pivots of the batch get their own; the others keep their X. */
static void check_repair(bool is_complex, bool kept)
{
    systems s = with_bad_ones(is_complex);
    trs_lu *lu, *own;
    int64_t bad, repaired;
    int code[SYSTEMS];
    task t = {.nrhs = 3, .kept = kept};
    const trs_ilu_options o = {.level = 0};
    assert_int_equal(trs_ilu(&lu, &s.mat, &o), TRS_OK);
    assert_int_equal(trs_factor(&own, &s.mat, NULL), TRS_OK);
    trs_lu_batch *b =
        batch_with(lu, &s.mat, (trs_lu_batch_options){.count = SYSTEMS, .keep = kept});
    vectors v = vectors_new(&s, &t);
    call c = call_new(&s, &t);
    const size_t bytes = (size_t)(v.stride * SYSTEMS) * size_of(v.type);
    if (kept) assert_int_equal(trs_lu_batch_update(b, &c.s, NULL), TRS_OK);
    void *B = place(v.b, bytes), *X = place(v.x, bytes);
    c.s.b_stride = c.s.x_stride = v.stride;
    assert_int_equal(trs_lu_batch_solve(b, t.op, t.nrhs, &c.s, B, v.ld, X, v.ld, NULL), TRS_OK);
    assert_int_equal(
        trs_lu_batch_repair(b, own, &s.mat, t.op, t.nrhs, &c.s, B, v.ld, X, v.ld, NULL, &repaired),
        TRS_OK);
    assert_int_equal(repaired, 3); /* TINY, ZERO and GROWING */
    bring(v.x, X, bytes);
    assert_int_equal(trs_lu_batch_status(b, &bad, code, NULL, NULL), TRS_EPIVOT);
    assert_int_equal(bad, 3);
    assert_true(code[NOT_A_NUMBER] == TRS_EPIVOT && code[INFINITE] == TRS_EPIVOT &&
                code[INFINITE_PIVOT] == TRS_EPIVOT);
    s.A[ZERO].a[0] = 0; /* as its values are */
    unsigned char good[SYSTEMS];
    for (int k = 0; k < SYSTEMS; k++) good[k] = code[k] == TRS_OK;
    t.mask = good;
    check_x(&s, &v, &t);
    unplace(B);
    unplace(X);
    call_free(&c);
    vectors_free(&v);
    trs_lu_batch_destroy(b);
    trs_lu_destroy(own);
    trs_lu_destroy(lu);
    systems_free(&s);
}

static void test_repair(void **state)
{
    (void)state;
    check_repair(false, false);
    check_repair(true, true);
}

/* Pivots of each library, and fill that it may have left out. */
static void test_libraries(void **state)
{
    (void)state;
    static const char *const method[] = {"klu", "umfpack", "cholmod"};
    for (int k = 0; k < 6; k++) {
        const bool hermitian_one = k % 3 == 2, is_complex = k >= 3;
        full A = hermitian_one ? hermitian(N, is_complex, 14) : unsymmetric(N, is_complex);
        systems s = systems_of(A, &plain);
        const trs_factor_options o = {.method = method[k % 3]};
        trs_lu *lu;
        trs_mat first = s.mat;
        if (hermitian_one) first.kind = TRS_LOWER | TRS_SELFADJOINT;
        const int rc = trs_factor(&lu, &first, &o);
        assert_true(rc == TRS_OK || rc == TRS_ESUPPORT); /* a build may lack it */
        if (!rc) {
            trs_lu_batch *b =
                batch_with(lu, &s.mat, (trs_lu_batch_options){.count = SYSTEMS, .threads = 2});
            for (trs_op op = TRS_N; op <= TRS_H; op++) {
                const task t = {.op = op, .nrhs = 2, .steps = 1};
                check_task(b, &s, &t);
            }
            trs_lu_batch_destroy(b);
        }
        trs_lu_destroy(lu);
        systems_free(&s);
    }
}

#endif

static void assert_in_between(double x, double low, double high)
{
    if (!(x >= low && x <= high)) fail_msg("%g is not in %g .. %g", x, low, high);
}

/* Weak pivots: refinement finds the digits that they cost, and omega is the error that is left. */
static void test_refine(void **state)
{
    (void)state;
    for (int is_complex = 0; is_complex < 2; is_complex++) {
        systems s = with_bad_ones(is_complex);
        const trs_ilu_options o = {.level = 0};
        double omega[SYSTEMS];
        trs_lu *lu;
        assert_int_equal(trs_ilu(&lu, &s.mat, &o), TRS_OK);
        trs_lu_batch *b = batch_with(lu, &s.mat, (trs_lu_batch_options){.count = SYSTEMS});
        task t = {.nrhs = 3, .omega = omega};
        double before = 0, after = 0;
        vectors v = vectors_new(&s, &t);
        for (t.op = TRS_N; t.op <= TRS_H; t.op++)
            for (t.steps = 0; t.steps < 3; t.steps += 2) {
                solve(b, &s, &t, &v);
                for (int k = 0; k < SYSTEMS; k++) {
                    double error = 0;
                    for (int c = 0; c < 3; c++) error = larger(error, error_of(&s, &v, &t, k, c));
                    if (is_spoiled(k)) assert_true(isnan(omega[k]));
                    else
                        assert_in_between(omega[k], error / 1.5 - 10 * DBL_EPSILON,
                                          1.5 * error + 10 * DBL_EPSILON);
                }
                if (t.steps) after = larger(after, omega[GROWING]);
                else before = larger(before, omega[GROWING]);
            }
        print_message("omega %.2g, refined %.2g\n", before, after);
        assert_true(before > 1e-9 && after < 4 * DBL_EPSILON);
        vectors_free(&v);
        trs_lu_batch_destroy(b);
        trs_lu_destroy(lu);
        systems_free(&s);
    }
}

/* Each system as trs_ilu and trs_lu_solve have it. */
static void check_incomplete(bool is_complex, const trs_ilu_options *o, bool half)
{
    systems s = systems_of(hermitian(N, is_complex, 14), &plain);
    const int type = s.mat.dtype;
    const task t = {.nrhs = 1};
    trs_mat A = s.mat;
    trs_lu *lu;
    vectors v = vectors_new(&s, &t);
    zz x[N];
    double apart = 0;
    if (half) A.kind = TRS_UPPER | TRS_SELFADJOINT;
    assert_int_equal(trs_ilu(&lu, &A, o), TRS_OK);
    trs_lu_batch *b = batch_with(lu, &A, (trs_lu_batch_options){.count = SYSTEMS});
    solve(b, &s, &t, &v);
    for (int k = 0; k < SYSTEMS; k++) {
        A.val = s.val + (size_t)(k * s.stride) * size_of(type);
        const char *rhs = v.b + (size_t)(k * v.stride) * size_of(type);
        assert_int_equal(trs_lu_update(lu, &A), TRS_OK);
        assert_int_equal(trs_lu_solve(lu, TRS_N, 1, rhs, N, x, N, NULL), TRS_OK);
        for (int i = 0; i < N; i++)
            apart = larger(apart,
                           cabs(get_value(x, type, i) - get_value(v.x, type, at(&v, &t, k, i, 0))));
    }
    print_message("%s(%d), ordering %d%s: %.2g apart\n", o->method ? "IC" : "ILU", o->level,
                  (int)o->ordering, half ? ", one triangle" : "", apart);
    assert_true(apart < 1e-13);
    vectors_free(&v);
    trs_lu_batch_destroy(b);
    trs_lu_destroy(lu);
    systems_free(&s);
}

static void test_incomplete(void **state)
{
    (void)state;
    for (int k = 0; k < 24; k++) {
        const trs_ilu_options o = {.method = (trs_ilu_method)(k % 2),
                                   .level = k / 2 % 2,
                                   .ordering = (trs_ilu_ordering)(k / 4 % 3),
                                   .shift = k % 3 / 10.0};
        check_incomplete(k >= 12, &o, o.method == TRS_ILU0 ? k % 3 == 0 : k % 3 == 1);
    }
}

/* A million systems of three rows: shared right-hand sides, and each x by Cramer's rule. */
static void test_million(void **state)
{
    (void)state;
    enum { MILLION = 1000000 };
    const int64_t ptr[] = {0, 3, 6, 9};
    const int32_t idx[] = {0, 1, 2, 0, 1, 2, 0, 1, 2};
    double *val = malloc(9 * MILLION * sizeof *val), *x = malloc(3 * MILLION * sizeof *x);
    const double b[] = {1, -2, 3};
    for (int64_t k = 0; k < 9 * MILLION; k++) val[k] = uniform() + 4 * (k % 9 % 4 == 0);
    const trs_mat A = {.n = 3, .nnz = 9, .ptr = ptr, .idx = idx, .val = val};
    trs_lu *lu;
    assert_int_equal(trs_ilu(&lu, &A, NULL), TRS_OK); /* full: complete */
    trs_lu_batch *batch =
        batch_with(lu, &A, (trs_lu_batch_options){.count = MILLION, .threads = 4});
    trs_systems s = {.count = MILLION, .val_stride = 9, .x_stride = 3};
    void *V = place(val, 9 * MILLION * sizeof *val), *B = place(b, sizeof b);
    void *X = place(x, 3 * MILLION * sizeof *x);
    s.val = V;
    assert_int_equal(trs_lu_batch_solve(batch, TRS_N, 1, &s, B, 3, X, 3, NULL), TRS_OK);
    assert_int_equal(trs_lu_batch_status(batch, NULL, NULL, NULL, NULL), TRS_OK);
    bring(x, X, 3 * MILLION * sizeof *x);
    double *again = malloc(3 * MILLION * sizeof *again);
    const trs_exec one = {.threads = 1};
    assert_int_equal(trs_lu_batch_solve(batch, TRS_N, 1, &s, B, 3, X, 3, &one), TRS_OK);
    bring(again, X, 3 * MILLION * sizeof *x);
    assert_memory_equal(x, again, 3 * MILLION * sizeof *x); /* four threads, or one */
    free(again);
    double worst = 0;
    for (int64_t k = 0; k < MILLION; k++) {
        const double *a = val + 9 * k, *y = x + 3 * k;
        for (int i = 0; i < 3; i++) {
            const double *r = a + 3 * i;
            const double size = fabs(r[0] * y[0]) + fabs(r[1] * y[1]) + fabs(r[2] * y[2]);
            const double error = fabs(b[i] - r[0] * y[0] - r[1] * y[1] - r[2] * y[2]);
            worst = larger(worst, error / (size + fabs(b[i])));
        }
    }
    print_message("a million systems: error %.2g\n", worst);
    assert_true(worst < 20 * DBL_EPSILON);
    unplace(V), unplace(B), unplace(X);
    free(val), free(x);
    trs_lu_batch_destroy(batch);
    trs_lu_destroy(lu);
}

static void test_empty(void **state)
{
    (void)state;
    const int64_t ptr[] = {0};
    const trs_mat A = {.ptr = ptr, .idx = ptr, .val = ptr};
    const trs_systems none = {0}, one = {.count = 1};
    int code = -1;
    trs_lu *lu;
    systems s = systems_of(unsymmetric(N, false), &plain);
    trs_lu_batch *b = batch_of(&s, (trs_lu_batch_options){.keep = 1});
    assert_int_equal(trs_lu_batch_update(b, &none, NULL), TRS_OK);
    assert_int_equal(trs_lu_batch_solve(b, TRS_N, 1, &none, NULL, N, NULL, N, NULL), TRS_OK);
    trs_lu_batch_destroy(b);
    systems_free(&s);
    assert_int_equal(trs_ilu(&lu, &A, NULL), TRS_OK);
    b = batch_with(lu, &A, (trs_lu_batch_options){0});
    assert_int_equal(trs_lu_batch_solve(b, TRS_N, 1, &one, ptr, 1, (void *)ptr, 1, NULL), TRS_OK);
    assert_int_equal(trs_lu_batch_status(b, NULL, &code, NULL, NULL), TRS_OK);
    assert_int_equal(code, TRS_OK);
    trs_lu_batch_destroy(b);
    trs_lu_destroy(lu);
}

static void refused(int rc, int code)
{
    if (rc != code) print_message("%d instead of %d: %s\n", rc, code, trs_message());
    assert_int_equal(rc, code);
    assert_true(*trs_message());
}

static void test_refused(void **state)
{
    (void)state;
    systems s = systems_of(unsymmetric(N, false), &plain);
    trs_lu *lu = pivots_of(&s), *boosted;
    trs_lu_batch *b, *none;
    double x[N * 4];
    trs_mat A = s.mat;
    trs_lu_batch_options o = {.count = -1};
    refused(trs_lu_batch_create(&none, lu, &A, &o), TRS_EARG);
    refused(trs_lu_batch_create(NULL, lu, &A, NULL), TRS_EARG);
    refused(trs_lu_batch_create(&none, NULL, &A, NULL), TRS_EARG);
    refused(trs_lu_batch_create(&none, lu, NULL, NULL), TRS_EARG);
    o = (trs_lu_batch_options){.reserved = {1}};
    refused(trs_lu_batch_create(&none, lu, &A, &o), TRS_EARG);
    counter unused = {.fail_at = -1};
    o = (trs_lu_batch_options){.memory = {.alloc = counted_memory(&unused).alloc}};
    refused(trs_lu_batch_create(&none, lu, &A, &o), TRS_EARG);
    o = (trs_lu_batch_options){.memory_limit = 1000};
    refused(trs_lu_batch_create(&none, lu, &A, &o), TRS_EMEM);
    A.n--;
    refused(trs_lu_batch_create(&none, lu, &A, NULL), TRS_EARG);
    A.n++, ((int32_t *)A.idx)[0] += N;
    refused(trs_lu_batch_create(&none, lu, &A, NULL), TRS_EMATRIX);
    ((int32_t *)A.idx)[0] -= N, A.format = TRS_DENSE, A.ld = N;
    refused(trs_lu_batch_create(&none, lu, &A, NULL), TRS_ESUPPORT);
    const trs_ilu_options boost = {.boost = 0.1};
    full D = hermitian(N, false, 14);
    trs_mat H = show_full(&D, &plain);
    assert_int_equal(trs_ilu(&boosted, &H, &boost), TRS_OK);
    refused(trs_lu_batch_create(&none, boosted, &H, NULL), TRS_ESUPPORT);
    assert_null(none);
    hide(&H);
    free(D.a);
    trs_lu_destroy(boosted);
    b = batch_with(lu, &s.mat, (trs_lu_batch_options){.count = 2});
    trs_systems y = {.count = 3, .val = s.val, .x_stride = N};
    refused(trs_lu_batch_solve(b, TRS_N, 1, &y, x, N, x + N, N, NULL), TRS_EARG);
    y.count = 2;
    refused(trs_lu_batch_solve(b, TRS_N, 1, &y, x, N, x + N - 1, N, NULL), TRS_EARG);
    refused(trs_lu_batch_solve(b, TRS_N, 1, &y, x, N - 1, x + N, N, NULL), TRS_EARG);
    refused(trs_lu_batch_solve(b, (trs_op)3, 1, &y, x, N, x + N, N, NULL), TRS_EARG);
    refused(trs_lu_batch_update(b, &y, NULL), TRS_ESTATE);
    y.kept = 1;
    refused(trs_lu_batch_solve(b, TRS_N, 1, &y, x, N, x + N, N, NULL), TRS_ESTATE);
    y.kept = 0, y.x_stride = 0;
    refused(trs_lu_batch_solve(b, TRS_N, 1, &y, x, N, x + N, N, NULL), TRS_EARG);
    y.x_stride = INT64_MAX / 16;
    refused(trs_lu_batch_solve(b, TRS_N, 1, &y, x, N, x + N, N, NULL), TRS_EARG);
    y.x_stride = N;
    const trs_exec threads = {.threads = -1}, layout = {.layout = (trs_layout)2};
    refused(trs_lu_batch_solve(b, TRS_N, 1, &y, x, N, x + N, N, &threads), TRS_EARG);
    refused(trs_lu_batch_solve(b, TRS_N, 1, &y, x, N, x + N, N, &layout), TRS_EARG);
    y.val = NULL;
    refused(trs_lu_batch_solve(b, TRS_N, 1, &y, x, N, x + N, N, NULL), TRS_EARG);
    y.val = s.val, y.reserved[1] = 1;
    refused(trs_lu_batch_solve(b, TRS_N, 1, &y, x, N, x + N, N, NULL), TRS_EARG);
    trs_lu_batch_destroy(b);
    trs_lu_destroy(lu);
    systems_free(&s);
}

/* Every allocation fails once; calls allocate nothing; the sizes are as announced. */
static void test_memory(void **state)
{
    (void)state;
    systems s = systems_of(unsymmetric(N, false), &plain);
    trs_lu *lu = pivots_of(&s);
    trs_lu_batch *b;
    trs_lu_batch_info info;
    for (long k = 0;; k++) {
        counter c = {.fail_at = k};
        trs_lu_batch_options o = {.count = SYSTEMS, .keep = 1, .threads = 2};
        if (there) o.device = TRS_CUDA(0);
        o.memory = counted_memory(&c);
        o.device_memory = counted_device_memory(&c);
        const int rc = trs_lu_batch_create(&b, lu, &s.mat, &o);
        if (!was_refused(&c)) {
            assert_int_equal(rc, TRS_OK);
            const long calls = c.calls;
            const task t = {.nrhs = 2, .steps = 1};
            update(b, &s, &t);
            check_task(b, &s, &t);
            assert_int_equal(c.calls, calls);
            assert_int_equal(trs_lu_batch_get_info(b, &info), TRS_OK);
            assert_true(there ? info.workers > 0 : info.workers == o.threads);
            print_message("%ld allocations, %zu bytes, announced %ld\n", calls, c.bytes,
                          (long)info.bytes_host);
            if (!there)
                assert_true(labs((long)c.bytes - (long)info.bytes_host) < 4000); /* the handles */
            trs_lu_batch_destroy(b);
            assert_int_equal(c.live, 0);
            break;
        }
        assert_int_equal(rc, TRS_EMEM);
        assert_null(b);
        assert_int_equal(c.live, 0);
    }
    trs_lu_destroy(lu);
    systems_free(&s);
}

#ifdef HAVE_CUDA

/* An update and a solve, captured once and replayed with other values. */
static void test_graph(void **state)
{
    (void)state;
    systems s = systems_of(unsymmetric(N, false), &plain);
    trs_lu_batch *b = batch_of(&s, (trs_lu_batch_options){.keep = 1});
    task t = {.nrhs = 2};
    vectors v = vectors_new(&s, &t);
    call c = call_new(&s, &t);
    const size_t bytes = (size_t)(v.stride * SYSTEMS) * size_of(v.type);
    void *B = place(v.b, bytes), *X = place(v.x, bytes);
    cudaStream_t stream = new_stream();
    const trs_exec exec = {.stream = stream};
    c.s.b_stride = c.s.x_stride = v.stride;
    begin_capture(stream);
    assert_int_equal(trs_lu_batch_update(b, &c.s, &exec), TRS_OK);
    c.s.kept = 1;
    assert_int_equal(trs_lu_batch_solve(b, TRS_N, 2, &c.s, B, v.ld, X, v.ld, &exec), TRS_OK);
    cudaGraphExec_t graph = end_capture(stream);
    for (int time = 0; time < 3; time++) {
        for (int k = 0; k < SYSTEMS; k++) {
            full old = s.A[k];
            s.A[k] = other_values(&old, 1);
            free(old.a);
            show_values(&s, k);
        }
        assert_int_equal(
            trs_device_put(TRS_CUDA(0), c.val, s.val, (size_t)(s.stride * SYSTEMS) * 8), TRS_OK);
        replay(graph, stream);
        bring(v.x, X, bytes);
        check_x(&s, &v, &t);
    }
    cudaGraphExecDestroy(graph);
    cudaStreamDestroy(stream);
    unplace(B), unplace(X);
    call_free(&c);
    vectors_free(&v);
    trs_lu_batch_destroy(b);
    systems_free(&s);
}

#endif

/* A grid of m by m points: a warp, a block of 64 to 1024 threads, or a slot of device memory a system, by its size. */
static full grid(int m)
{
    full A = full_new(m * m, true);
    for (int i = 0; i < m * m; i++) {
        A.a[i + A.n * i] = 4.5 + 0.5 * I;
        if (i % m) A.a[i + A.n * (i - 1)] = A.a[i - 1 + A.n * i] = -1;
        if (i >= m) A.a[i + A.n * (i - m)] = A.a[i - m + A.n * i] = -1;
    }
    return A;
}

/* Sizes for which devices have a kernel each; natural order has much fill. */
static void test_sizes(void **state)
{
    (void)state;
    static const int size[] = {1, 5, 10, 14, 17, 20};
    for (int k = 0; k < 6; k++) {
        systems s = systems_of(grid(size[k]), &plain);
        const trs_ilu_options o = {.level = size[k] * size[k]};
        trs_lu_batch_info info;
        trs_lu *lu;
        assert_int_equal(trs_ilu(&lu, &s.mat, &o), TRS_OK);
        trs_lu_batch *b = batch_with(lu, &s.mat, (trs_lu_batch_options){.count = SYSTEMS});
        assert_int_equal(trs_lu_batch_get_info(b, &info), TRS_OK);
        print_message("%ld rows, %ld entries: %s\n", (long)info.n, (long)info.nnz, info.kernel);
        task t = {.nrhs = 2};
        vectors v = vectors_new(&s, &t);
        for (t.op = TRS_N; t.op <= TRS_H; t.op++) {
            double worst = 0;
            solve(b, &s, &t, &v);
            for (int m = 0; m < SYSTEMS; m += 9) worst = larger(worst, error_of(&s, &v, &t, m, 1));
            assert_true(worst < 50 * DBL_EPSILON);
        }
        vectors_free(&v);
        trs_lu_batch_destroy(b);
        trs_lu_destroy(lu);
        systems_free(&s);
    }
}

static int begin(void **state)
{
    (void)state;
    there = false;
    return 0;
}

/* The same case on a device. */
#define ALSO_THERE(test)                                                                           \
    static void test##_there(void **state)                                                         \
    {                                                                                              \
        if (!has_device()) skip();                                                                 \
        there = true;                                                                              \
        test(state);                                                                               \
    }

ALSO_THERE(test_forms)
ALSO_THERE(test_kept)
ALSO_THERE(test_bits)
ALSO_THERE(test_bad)
#ifdef HAVE_SUITESPARSE
ALSO_THERE(test_repair)
ALSO_THERE(test_libraries)
#endif
ALSO_THERE(test_refine)
ALSO_THERE(test_incomplete)
ALSO_THERE(test_million)
ALSO_THERE(test_sizes)
ALSO_THERE(test_memory)
#ifdef HAVE_CUDA
ALSO_THERE(test_graph)
#endif

#define HERE(test) cmocka_unit_test_setup(test, begin)
#define BOTH(test) HERE(test), HERE(test##_there)

int main(void)
{
    const struct CMUnitTest tests[] = {
        BOTH(test_forms),       BOTH(test_kept),       BOTH(test_bits),    BOTH(test_bad),
#ifdef HAVE_SUITESPARSE
        BOTH(test_repair),      BOTH(test_libraries),
#endif
        BOTH(test_refine),      BOTH(test_incomplete), BOTH(test_million), BOTH(test_sizes),
        BOTH(test_memory),      HERE(test_empty),      HERE(test_refused),
#ifdef HAVE_CUDA
        HERE(test_graph_there),
#endif
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
