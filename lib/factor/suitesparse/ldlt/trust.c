/* trust.c: a solve with L S L^H as it comes from the factorization, and its backward error.
 *
 *     b = A y,   y(i) in [1, 2)        x = P' L^-H S^-1 L^-1 P b        omega = max |b - A x| / (|A| |x| + |b|)
 *
 * It takes O(entries of L), next to the factorization little, and no plans. */
#include "config.h"

#include "trust.h"
#include "base/debug.h"
#include "base/number/cmplx.h"

#ifdef HAVE_CHOLMOD

#include <string.h>

typedef double complex zz;

typedef struct job {
    const trs_csc *A;
    const trs_factors *f;
    int parts;
    double *z;    /* [parts*n] in the order of the pivots */
    double *x;    /* [parts*n] */
    double *r;    /* [parts*n] */
    double *size; /* [n] */
} job;

static zz get(const job *b, const double *a, int64_t k)
{
    return b->parts == 2 ? CMPLX(a[2 * k], a[2 * k + 1]) : a[k];
}

static void put(const job *b, double *a, int64_t k, zz v)
{
    a[b->parts * k] = creal(v);
    if (b->parts == 2) a[2 * k + 1] = cimag(v);
}

/* z = L^-1 z */
static void forward(const job *b)
{
    const int64_t *ptr = b->f->L.ptr;
    const int32_t *idx = b->f->L.idx;
    const double *val = b->f->L.val;
    for (int64_t j = 0; j < b->f->L.n; j++) {
        TRS_ASSERT(idx[ptr[j]] == j);
        const zz v = get(b, b->z, j) / creal(get(b, val, ptr[j]));
        put(b, b->z, j, v);
        for (int64_t p = ptr[j] + 1; p < ptr[j + 1]; p++)
            put(b, b->z, idx[p], get(b, b->z, idx[p]) - get(b, val, p) * v);
    }
}

/* z = L^-H z */
static void backward(const job *b)
{
    const int64_t *ptr = b->f->L.ptr;
    const int32_t *idx = b->f->L.idx;
    const double *val = b->f->L.val;
    for (int64_t j = b->f->L.n - 1; j >= 0; j--) {
        zz v = get(b, b->z, j);
        for (int64_t p = ptr[j] + 1; p < ptr[j + 1]; p++)
            v -= conj(get(b, val, p)) * get(b, b->z, idx[p]);
        put(b, b->z, j, v / creal(get(b, val, ptr[j])));
    }
}

/* z = S^-1 z */
static void divide(const job *b)
{
    for (int64_t k = 0; k < b->f->L.n; k++) {
        const double *s = b->f->block ? b->f->block + 4 * k : NULL;
        const zz u = get(b, b->z, k);
        if (!s || (s[2] == 0 && s[3] == 0)) {
            put(b, b->z, k, b->f->sign[k] * u);
            continue;
        }
        const zz v = get(b, b->z, k + 1), off = CMPLX(s[2], s[3]);
        put(b, b->z, k, s[0] * u + off * v);
        put(b, b->z, ++k, conj(off) * u + s[1] * v);
    }
}

/* x = x + A^-1 r */
static void add_solution(const job *b)
{
    const int64_t *P = b->f->P;
    for (int64_t k = 0; k < b->A->n; k++) put(b, b->z, k, get(b, b->r, P[k]));
    forward(b);
    divide(b);
    backward(b);
    for (int64_t k = 0; k < b->A->n; k++) put(b, b->x, P[k], get(b, b->x, P[k]) + get(b, b->z, k));
}

static bool is_solution_finite(const job *b)
{
    double sum = 0;
    for (int64_t q = 0; q < b->parts * b->A->n; q++) sum += 0 * b->x[q];
    return sum == 0;
}

static void measure(const job *b, double omega[2])
{
    const int64_t n = b->A->n;
    const size_t bytes = (size_t)(b->parts * n) * sizeof *b->x;
    double *rhs = b->r + b->parts * n;
    trs_lu_known_sides(b->A, TRS_N, b->x, rhs);
    memset(b->x, 0, bytes);
    memcpy(b->r, rhs, bytes);
    for (int turn = 0; turn < 2; turn++) {
        add_solution(b);
        memcpy(b->r, rhs, bytes);
        omega[turn] = INFINITY;
        if (is_solution_finite(b))
            omega[turn] = trs_lu_backward_error(b->A, TRS_N, b->x, b->r, b->size);
    }
}

int trs_ldlt_measure(trs_lu *lu, const trs_csc *A, const trs_factors *f, double omega[2])
{
    const char *const what = "a solve that measures errors";
    const int64_t n = A->n;
    job b = {.A = A, .f = f, .parts = A->is_complex ? 2 : 1};
    TRS_ASSERT(f->L.format == TRS_CSC && f->sign && f->P);
    b.z = trs_lu_alloc(lu, b.parts * n, sizeof *b.z, what);
    b.x = trs_lu_alloc(lu, b.parts * n, sizeof *b.x, what);
    b.r = trs_lu_alloc(lu, 2 * b.parts * n, sizeof *b.r, what);
    b.size = trs_lu_alloc(lu, n, sizeof *b.size, what);
    const bool there = b.z && b.x && b.r && b.size;
    if (there) measure(&b, omega);
    trs_lu_free(lu, b.z, b.x, b.r, b.size);
    return there ? TRS_OK : TRS_EMEM;
}

#endif
