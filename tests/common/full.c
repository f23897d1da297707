/* full.c: small matrices kept full, to compare with; shown to the library in every form that a caller may have. */
#include "full.h"

static uint64_t seed = 1;

double uniform(void) /* in (-1, 1) */
{
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    return (double)(int64_t)(seed >> 11) / 4503599627370496.0 - 1;
}

full full_new(int n, bool is_complex)
{
    full f = {n, is_complex, calloc((size_t)(n * n) + 1, sizeof(zz))};
    assert_non_null(f.a);
    return f;
}

zz number(bool is_complex)
{
    double re = uniform();
    return is_complex ? re + uniform() * I : re;
}

/* Sparse, unsymmetric, with no small pivots to be expected. */
full unsymmetric(int n, bool is_complex)
{
    full f = full_new(n, is_complex);
    for (int k = 0; k < n * n; k++)
        if (uniform() > 0.5) f.a[k] = number(is_complex);
    for (int i = 0; i < n; i++) f.a[i + n * ((i + n / 3) % n)] += 3 + uniform();
    return f;
}

/* Sparse, Hermitian; definite when shift is large. */
full hermitian(int n, bool is_complex, double shift)
{
    full f = full_new(n, is_complex);
    for (int j = 0; j < n; j++) {
        f.a[j + n * j] = shift + fabs(uniform());
        for (int i = j + 1; i < n; i++) {
            if (uniform() < 0.6) continue;
            f.a[i + n * j] = number(is_complex);
            f.a[j + n * i] = conj(f.a[i + n * j]);
        }
    }
    return f;
}

static void set_index(void *a, int bits, int64_t k, int64_t v)
{
    if (bits == 64) ((int64_t *)a)[k] = v;
    else ((int32_t *)a)[k] = (int32_t)v;
}

size_t size_of(trs_dtype t)
{
    static const size_t size[] = {[TRS_F64] = 8, [TRS_F32] = 4, [TRS_C64] = 16, [TRS_C32] = 8};
    return size[t];
}

double eps_of(trs_dtype t)
{
    return t == TRS_F32 || t == TRS_C32 ? (double)FLT_EPSILON : DBL_EPSILON;
}

void set_value(void *a, trs_dtype t, int64_t k, zz v)
{
    if (t == TRS_F64) ((double *)a)[k] = creal(v);
    else if (t == TRS_F32) ((float *)a)[k] = (float)creal(v);
    else if (t == TRS_C64) ((zz *)a)[k] = v;
    else ((float complex *)a)[k] = (float complex)v;
}

zz get_value(const void *a, trs_dtype t, int64_t k)
{
    if (t == TRS_F64) return ((const double *)a)[k];
    if (t == TRS_F32) return ((const float *)a)[k];
    return t == TRS_C64 ? ((const zz *)a)[k] : ((const float complex *)a)[k];
}

/* By way of memory: gcc 12 leaves out the conversion of a complex number to single precision and back. */
void round_to(full *f, trs_dtype t)
{
    if (t != TRS_F32 && t != TRS_C32) return;
    for (int k = 0; k < f->n * f->n; k++) {
        const volatile float re = (float)creal(f->a[k]), im = (float)cimag(f->a[k]);
        f->a[k] = CMPLX(re, im);
    }
}

trs_mat show_full(const full *f, const form *s)
{
    const int n = f->n;
    trs_mat m = {.n = n, .ld = n, .ptr_bits = s->ptr_bits, .idx_bits = s->idx_bits};
    m.base = s->base;
    m.format = s->format;
    m.dtype = f->is_complex ? s->cplx : s->real;
    void *val = calloc((size_t)(n * n) + 1, sizeof(zz)), *ptr = NULL, *idx = NULL;
    if (s->format == TRS_DENSE)
        for (int k = 0; k < n * n; k++) set_value(val, m.dtype, k, f->a[k]);
    else {
        ptr = calloc((size_t)n + 1, 8), idx = calloc((size_t)(n * n) + 1, 8);
        for (int l = 0; l <= n; l++) {
            set_index(ptr, s->ptr_bits, l, m.nnz + s->base);
            for (int k = 0; k < n && l < n; k++) {
                const int c = s->shuffled ? n - 1 - k : k;
                const zz v = f->a[s->format == TRS_CSR ? l + n * c : c + n * l];
                if (v == 0) continue;
                set_index(idx, s->idx_bits, m.nnz, c + s->base);
                set_value(val, m.dtype, m.nnz++, v);
            }
        }
    }
    m.ptr = ptr, m.idx = idx, m.val = val;
    return m;
}

void hide(trs_mat *m)
{
    free((void *)m->ptr);
    free((void *)m->idx);
    free((void *)m->val);
}

const form plain = {TRS_CSR, 64, 32, 0, TRS_F64, TRS_C64, false};
const form forms[FORMS] = {
    {TRS_CSR, 64, 32, 0, TRS_F64, TRS_C64, false}, {TRS_CSR, 32, 32, 1, TRS_F64, TRS_C64, true},
    {TRS_CSC, 64, 64, 1, TRS_F64, TRS_C64, false}, {TRS_CSC, 32, 64, 0, TRS_F64, TRS_C64, true},
    {TRS_DENSE, 0, 0, 0, TRS_F64, TRS_C64, false}, {TRS_CSR, 64, 32, 0, TRS_F32, TRS_C32, false},
};
/* ---- factors back to full ------------------------------------------------------------------- */

full unfold(const trs_mat *m)
{
    full f = full_new((int)m->n, m->dtype == TRS_C64 || m->dtype == TRS_C32);
    assert_int_equal(m->ptr_bits % 64, 0);
    assert_int_equal(m->idx_bits % 32, 0);
    const int64_t *ptr = m->ptr;
    const int32_t *idx = m->idx;
    for (int l = 0; l < f.n; l++) {
        for (int64_t p = ptr[l]; p < ptr[l + 1]; p++) {
            const int k = idx[p], i = m->format == TRS_CSR ? l : k;
            const int j = m->format == TRS_CSR ? k : l;
            if (!(m->kind & TRS_LOWER && i < j) && !(m->kind & TRS_UPPER && i > j))
                f.a[i + f.n * j] = get_value(m->val, m->dtype, p);
        }
        if (m->kind & TRS_UNIT) f.a[l + f.n * l] = 1;
    }
    return f;
}

void assert_refused(trs_lu *lu, int rc, int code, const char *says)
{
    const double b[8] = {1};
    double x[8];
    print_message("%d: %s\n", rc, trs_message());
    assert_int_equal(rc, code);
    assert_non_null(strstr(trs_message(), says));
    assert_int_equal(trs_lu_solve(lu, TRS_N, 1, b, 8, x, 8, NULL), TRS_ESTATE);
    trs_lu_destroy(lu);
}
