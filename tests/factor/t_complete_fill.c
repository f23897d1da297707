/* t_complete_fill.c: the fill of A(P, Q) is that of boolean elimination of a full matrix, whatever the pattern, and every
 * entry knows the place of its value in A.  Factors that lack what cancelled get it back, and keep their values. */
#include "tests/common/full.h"

#include "factor/device/complete_fill.h"
#include "factor/device/lu_device.h"

typedef struct order {
    int64_t p[64], q[64];
} order;

static void shuffle(int64_t *p, int n)
{
    for (int k = 0; k < n; k++) p[k] = k;
    for (int k = n - 1; k > 0; k--) {
        const int j = (int)(fabs(uniform()) * k);
        const int64_t t = p[k];
        p[k] = p[j], p[j] = t;
    }
}

static full sparse(int n, double filled, bool symmetric)
{
    full f = full_new(n, false);
    for (int j = 0; j < n; j++)
        for (int i = 0; i <= j; i++) {
            if (fabs(uniform()) < filled) f.a[i + n * j] = uniform();
            if (symmetric ? f.a[i + n * j] != 0 : fabs(uniform()) < filled)
                f.a[j + n * i] = uniform();
        }
    return f;
}

/* in [i + n*j]: is (i, j) an entry of L + U? */
static void eliminate(const full *A, const order *o, bool *in)
{
    const int n = A->n;
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) in[i + n * j] = i == j || A->a[o->p[i] + n * o->q[j]] != 0;
    for (int k = 0; k < n; k++)
        for (int i = k + 1; i < n; i++)
            for (int j = k + 1; j < n; j++)
                if (in[i + n * k] && in[k + n * j]) in[i + n * j] = true;
}

static void check(const full *A, const trs_mat *m, const order *o)
{
    const int n = A->n;
    trs_context ctx = {.threads = 1};
    trs_complete_fill f;
    bool *in = calloc((size_t)(n * n) + 1, 1);
    int64_t expected = 0, found = 0, first = 0;
    eliminate(A, o, in);
    for (int k = 0; k < n * n; k++) expected += in[k];
    assert_int_equal(trs_complete_fill_find(&ctx, m, o->p, o->q, 1 << 20, &f), TRS_OK);
    assert_int_equal(f.nnz, expected);
    assert_int_equal(f.ptr[n], expected);
    for (int i = 0; i < n; i++)
        for (int64_t p = f.ptr[i]; p < f.ptr[i + 1]; p++, found++) {
            const int j = f.idx[p];
            const zz a = A->a[o->p[i] + n * o->q[j]];
            assert_true(in[i + n * j]);
            in[i + n * j] = false; /* no entry twice */
            if (f.src[p] == TRS_SRC_MISSING) assert_true(a == 0);
            else assert_true(get_value(m->val, m->dtype, f.src[p]) == a), first++;
        }
    assert_int_equal(found, expected);
    if (m->format != TRS_DENSE) assert_int_equal(first, m->nnz);
    trs_complete_fill_free(&ctx, &f);
    free(in);
}

static void boolean_elimination(void **state)
{
    (void)state;
    static const int sizes[] = {1, 2, 5, 20, 64};
    for (int s = 0; s < 5; s++)
        for (int filled = 1; filled <= 4; filled++)
            for (int symmetric = 0; symmetric < 2; symmetric++)
                for (int k = 0; k < FORMS - 1; k++) {
                    full A = sparse(sizes[s], 0.04 * filled * filled, symmetric);
                    trs_mat m = show_full(&A, &forms[k]);
                    order o;
                    shuffle(o.p, A.n);
                    if (symmetric) memcpy(o.q, o.p, sizeof o.p);
                    else shuffle(o.q, A.n);
                    check(&A, &m, &o);
                    hide(&m);
                    free(A.a);
                }
}

/* An arrow fills all, and is given up where that is too much. */
static void too_much(void **state)
{
    (void)state;
    enum { N = 60 };
    trs_context ctx = {.threads = 1};
    trs_complete_fill f;
    order o;
    full A = full_new(N, false);
    for (int k = 0; k < N; k++) {
        A.a[k + N * k] = A.a[k] = A.a[N * k] = 1;
        o.p[k] = o.q[k] = k;
    }
    trs_mat m = show_full(&A, &plain);
    check(&A, &m, &o);
    assert_int_equal(trs_complete_fill_find(&ctx, &m, o.p, o.q, 200, &f), TRS_ESUPPORT);
    for (int k = 0; k < N; k++)
        o.p[k] = o.q[k] = N - 1 - k; /* the other way round there is no fill */
    assert_int_equal(trs_complete_fill_find(&ctx, &m, o.p, o.q, 200, &f), TRS_OK);
    assert_int_equal(f.nnz, 3 * N - 2);
    trs_complete_fill_free(&ctx, &f);
    hide(&m);
    free(A.a);
}

/* ---- factors that lack what cancelled ------------------------------------------------------------------ */

static full triangle_of(const full *f, bool lower)
{
    const int n = f->n;
    full t = full_new(n, f->is_complex);
    for (int j = 0; j < n; j++)
        for (int i = 0; i < n; i++)
            if (lower ? i > j : i <= j) t.a[i + n * j] = f->a[i + n * j];
    for (int k = 0; k < n && lower; k++) t.a[k + n * k] = 1;
    return t;
}

/* The shown triangle in arrays of the lu. */
static trs_mat give(trs_lu *lu, const full *f, const form *how, unsigned kind)
{
    trs_mat m = show_full(f, how), own = m;
    int64_t *ptr = trs_lu_alloc(lu, m.n + 1, sizeof *ptr, "a test");
    int32_t *idx = trs_lu_alloc(lu, m.nnz, sizeof *idx, "a test");
    void *val = trs_lu_alloc(lu, m.nnz, trs_size(m.dtype), "a test");
    assert_true(ptr && idx && val);
    memcpy(ptr, m.ptr, ((size_t)m.n + 1) * sizeof *ptr);
    memcpy(idx, m.idx, (size_t)m.nnz * sizeof *idx);
    memcpy(val, m.val, (size_t)m.nnz * trs_size(m.dtype));
    own.ptr = ptr, own.idx = idx, own.val = val, own.kind = kind;
    hide(&m);
    return own;
}

/* m has the entries of `in` in this triangle, with the values of f. */
static void check_triangle(const trs_mat *m, const full *f, const bool *in, bool lower)
{
    const int n = f->n;
    const int64_t *ptr = m->ptr;
    const int32_t *idx = m->idx;
    int64_t expected = 0;
    for (int k = 0; k < n * n; k++) expected += in[k] && (lower ? k % n >= k / n : k % n <= k / n);
    assert_int_equal(m->nnz, expected);
    assert_int_equal(m->format, TRS_CSC);
    for (int j = 0; j < n; j++)
        for (int64_t p = ptr[j]; p < ptr[j + 1]; p++) {
            assert_true(in[idx[p] + n * j] && (lower ? idx[p] >= j : idx[p] <= j));
            assert_true(p == ptr[j] || idx[p] > idx[p - 1]);
            assert_true(get_value(m->val, m->dtype, p) == f->a[idx[p] + n * j]);
        }
}

/* Numbers for L + U on the pattern `in`, of which one in four happens to be zero, but none of the diagonal. */
static full factors_on(int n, bool is_complex, const bool *in)
{
    full f = full_new(n, is_complex);
    for (int k = 0; k < n * n; k++)
        if (in[k] && (k % n == k / n || uniform() > -0.5)) f.a[k] = number(is_complex);
    return f;
}

static void cancelled(void **state)
{
    (void)state;
    enum { N = 24 };
    for (int trial = 0; trial < 20; trial++) {
        const bool is_complex = trial % 2;
        const form by_columns = {TRS_CSC, 64, 32, 0, TRS_F64, TRS_C64, trial % 3 == 0};
        bool in[N * N];
        order o;
        shuffle(o.p, N);
        shuffle(o.q, N);
        full A = sparse(N, 0.01 * trial, false);
        eliminate(&A, &o, in);
        full F = factors_on(N, is_complex, in);
        full L = triangle_of(&F, true), U = triangle_of(&F, false);
        trs_mat m = show_full(&A, &plain);
        trs_lu *lu = NULL;
        assert_int_equal(trs_lu_new(&lu, &m, &(trs_options){0}, 0), TRS_OK);
        lu->f.L = give(lu, &L, &plain, TRS_LOWER);
        lu->f.U = give(lu, &U, &by_columns, TRS_UPPER);
        lu->f.P = o.p, lu->f.Q = o.q;
        int64_t all = N;
        for (int k = 0; k < N * N; k++) all += in[k];
        const bool lacking = lu->f.L.nnz + lu->f.U.nnz < all;
        assert_int_equal(trs_lu_complete_factors(lu, &m, 1 << 20), TRS_OK);
        assert_int_equal(lu->f.L.nnz + lu->f.U.nnz, all);
        if (lacking) check_triangle(&lu->f.L, &L, in, true);
        if (lacking) check_triangle(&lu->f.U, &U, in, false);
        lu->f.P = lu->f.Q = NULL;
        trs_lu_destroy(lu);
        hide(&m);
        free(A.a), free(F.a), free(L.a), free(U.a);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(boolean_elimination),
        cmocka_unit_test(too_much),
        cmocka_unit_test(cancelled),
    };
    return cmocka_run_group_tests_name("complete_fill", tests, NULL, NULL);
}
