/* t_turned.c: pivots of two rows as pivots of one row each (turned.h), on the host: G against W A W' of the full matrix, G has
 * diagonal pivots, and the factors that are turned back are those of A. */
#include "middle.h"

#include "factor/device/turned.h"

/* W of the pairs, in the order of A. */
static full whole_w(const trs_turned *t, const int64_t *P, int n, bool is_complex)
{
    full W = full_new(n, is_complex);
    for (int i = 0; i < n; i++) W.a[i + n * i] = 1;
    for (int q = 0; q < t->count; q++) {
        const int64_t i = P[t->first[q]], j = P[t->first[q] + 1];
        zz w[4];
        for (int e = 0; e < 4; e++)
            w[e] = get_value(t->w, is_complex ? TRS_C64 : TRS_F64, 4 * q + e);
        assert_true(fabs(cabs(w[0] * w[3] - w[1] * w[2]) - 1) <= 8 * DBL_EPSILON);
        W.a[i + n * i] = w[0], W.a[i + n * j] = w[1];
        W.a[j + n * i] = w[2], W.a[j + n * j] = w[3];
    }
    return W;
}

/* A B, or A B^H. */
static full product(const full *A, const full *B, bool adjoint)
{
    const int n = A->n;
    full C = full_new(n, A->is_complex);
    for (int j = 0; j < n; j++)
        for (int k = 0; k < n; k++)
            for (int i = 0; i < n; i++)
                C.a[i + n * j] +=
                    A->a[i + n * k] * (adjoint ? conj(B->a[j + n * k]) : B->a[k + n * j]);
    return C;
}

/* G by its terms. */
static full summed(const trs_turned *t, const void *val)
{
    const int n = (int)t->G.n;
    full G = full_new(n, trs_is_complex(t->G.dtype));
    const int64_t *ptr = t->G.ptr;
    const int32_t *idx = t->G.idx;
    for (int i = 0; i < n; i++)
        for (int64_t e = ptr[i]; e < ptr[i + 1]; e++)
            for (int64_t q = 4 * e; q < 4 * e + 4 && t->from[q] >= 0; q++) {
                const int64_t at = t->G.format == TRS_CSR ? i + n * idx[e] : idx[e] + n * i;
                G.a[at] += get_value(t->by, t->G.dtype, q) * get_value(val, t->G.dtype, t->from[q]);
            }
    return G;
}

/* F S F^H = G(P, P), all of its lower triangle by rows. */
static void eliminate(const full *G, const int64_t *P, trs_mat *F, int8_t *sign)
{
    const int n = G->n;
    const trs_dtype type = G->is_complex ? TRS_C64 : TRS_F64;
    int64_t *ptr = calloc((size_t)n + 1, sizeof *ptr);
    int32_t *idx = malloc((size_t)(n * n) * sizeof *idx);
    void *val = malloc((size_t)(n * n) * sizeof(zz));
    for (int i = 0; i < n; i++) {
        ptr[i + 1] = ptr[i];
        for (int j = 0; j <= i; j++) {
            zz sum = G->a[P[i] + n * P[j]];
            for (int k = 0; k < j; k++)
                sum -= get_value(val, type, ptr[i] + k) * sign[k] *
                       conj(get_value(val, type, ptr[j] + k));
            if (i == j) sign[j] = creal(sum) < 0 ? -1 : 1;
            idx[ptr[i + 1]] = j;
            if (i == j) sum = sqrt(fabs(creal(sum)));
            else sum *= sign[j] / creal(get_value(val, type, ptr[j] + j));
            set_value(val, type, ptr[i + 1]++, sum);
        }
    }
    *F = (trs_mat){.n = n, .nnz = ptr[n], .ptr = ptr, .idx = idx, .val = val};
    F->dtype = type;
    F->kind = TRS_LOWER;
}

static void check_difference(const full *a, const full *b, double tolerance)
{
    double most = 0, worst = 0;
    for (int p = 0; p < a->n * a->n; p++) {
        most = larger(cabs(a->a[p]), most);
        worst = larger(cabs(a->a[p] - b->a[p]), worst);
    }
    if (!(worst <= tolerance * most)) fail_msg("%g of %g", worst, most);
}

/* L and S^-1 that were turned back: L S L^H = A(P, P), where L has multiples of I in the blocks. */
static void check_back(const trs_lu *lu, const full *A)
{
    const int n = A->n;
    full L = unfold(&lu->f.L), S = full_new(n, A->is_complex), B = full_new(n, A->is_complex);
    for (int k = 0; k < n; k++) {
        const double *s = lu->f.block + 4 * (int64_t)k;
        if (s[2] == 0 && s[3] == 0) {
            S.a[k + n * k] = lu->f.sign[k];
            continue;
        }
        const double det = s[0] * s[1] - s[2] * s[2] - s[3] * s[3];
        assert_true(fabs(fabs(det) - 1) <= 1e-12);
        assert_true(det * lu->f.sign[k] * lu->f.sign[k + 1] > 0);
        assert_true(L.a[k + 1 + n * k] == 0 && L.a[k + n * k] == L.a[k + 1 + n * (k + 1)]);
        S.a[k + n * k] = s[1] / det, S.a[k + 1 + n * (k + 1)] = s[0] / det;
        S.a[k + n * (k + 1)] = CMPLX(-s[2] / det, -s[3] / det);
        S.a[k + 1 + n * k] = conj(S.a[k + n * (k + 1)]);
        k++;
    }
    for (int j = 0; j < n; j++)
        for (int i = 0; i < n; i++) B.a[i + n * j] = A->a[lu->f.P[i] + n * lu->f.P[j]];
    full LS = product(&L, &S, false), LSL = product(&LS, &L, true);
    check_difference(&B, &LSL, 8 * n * DBL_EPSILON);
    free(L.a), free(S.a), free(B.a), free(LS.a), free(LSL.a);
}

static void check_turned(bool is_complex)
{
    for (int turn = 0; turn < 40; turn++) {
        const int n = 8 + turn;
        full A = with_pairs(n, is_complex);
        trs_mat m = show_full(&A, &forms[turn % 4]);
        trs_lu *lu, copy;
        trs_turned t;
        const trs_factor_options opt = {.method = "ldlt"};
        if (m.dtype != (is_complex ? TRS_C64 : TRS_F64) || m.format == TRS_DENSE)
            fail_msg("another form is needed");
        assert_int_equal(trs_factor(&lu, &m, &opt), TRS_OK);
        assert_int_equal(trs_lu_factors(lu, NULL, NULL, NULL, NULL, NULL), TRS_OK);
        assert_non_null(lu->f.block);
        assert_int_equal(trs_turned_make(lu, &m, &t), TRS_OK);
        assert_true(t.count > 0);
        full W = whole_w(&t, lu->f.P, n, is_complex), WA = product(&W, &A, false),
             G = product(&WA, &W, true);
        full sums = summed(&t, m.val);
        check_difference(&G, &sums, 1e-14);
        copy = *lu;
        copy.f.sign = malloc((size_t)n);
        copy.f.block = malloc(4 * (size_t)n * sizeof(double));
        memcpy(copy.f.block, lu->f.block, 4 * (size_t)n * sizeof(double));
        eliminate(&G, lu->f.P, &copy.f.L, copy.f.sign);
        trs_turned_back(&copy, t.count, t.first, t.w);
        check_back(&copy, &A);
        hide(&copy.f.L);
        free(copy.f.sign), free(copy.f.block);
        free(W.a), free(WA.a), free(G.a), free(sums.a), free(A.a);
        trs_turned_free(lu, &t);
        trs_lu_destroy(lu);
        hide(&m);
    }
}

static void real_pairs(void **state)
{
    (void)state;
    check_turned(false);
}

static void complex_pairs(void **state)
{
    (void)state;
    check_turned(true);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(real_pairs),
                                       cmocka_unit_test(complex_pairs)};
    return cmocka_run_group_tests_name("turned", tests, NULL, NULL);
}
