/* t_complete_fill.c: the fill of A(P, Q) is that of boolean elimination of a full matrix, whatever the pattern, and every
 * entry knows the place of its value in A. */
#include "tests/common/full.h"

#include "factor/device/complete_fill.h"

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
                    trs_mat m = show(&A, &forms[k]);
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
    trs_mat m = show(&A, &plain);
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(boolean_elimination),
        cmocka_unit_test(too_much),
    };
    return cmocka_run_group_tests_name("complete_fill", tests, NULL, NULL);
}
