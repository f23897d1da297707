/* shift.c: what PETSc does about bad pivots (MatFactorShiftType), around the factorisations of the library.
 *
 *     pivot p of row i, rs = sum |row i of L + U| without p;  L L' counts as L D L': p = l(k, k)^2
 *     none                p is bad when |p| <= zeropivot; it is reported
 *     nonzero             when |p| <= zeropivot rs: A + shift I is factored, with a shift that doubles
 *     positive_definite   when p <= zeropivot rs: A + shift I, with a shift that is found by bisection between 0 and
 *                         that which makes A diagonally dominant, in 6 attempts
 *     inblocks            the library's boost: |p| < shiftamount max |row i of A| is replaced by that product
 *
 * The first three are PETSc's rules for AIJ, so that both find the same shift.  Only pivots that are zero, not finite, or
 * of L L' not positive, are bad in complete factors, which exchange rows, and in factors that stay on a GPU: L L', and L U
 * without shifts.  L U on a GPU with a shift is copied to the host to be looked at.  In factors by blocks a singular block is bad.
 * Source: Manteuffel 1980; PETSc Users Manual, "Avoiding zero pivots". */
#include "config.h"

#include "factor.h"

enum { BISECTIONS = 5, DOUBLINGS = 2000 };

typedef struct search {
    PetscReal shift, top, fraction, low, high;
    int attempts;
} search;

/* Pointers and indices of a trs_mat, in either size. */
static int64_t start_of(const trs_mat *m, int64_t i)
{
    return m->ptr_bits == 32 ? ((const int32_t *)m->ptr)[i] : ((const int64_t *)m->ptr)[i];
}

static int64_t column_of(const trs_mat *m, int64_t p)
{
    return m->idx_bits == 64 ? ((const int64_t *)m->idx)[p] : ((const int32_t *)m->idx)[p];
}

/* ---- pivots ---------------------------------------------------------------------------------- */

/* rs(i) of L + U - I by rows, or rs(k) / l(k, k) of L by rows: the sums of its columns. */
static void off_diagonal_sums(const trs_mat *m, PetscBool columns, PetscReal *rs,
                              PetscScalar *pivot)
{
    const PetscScalar *val = m->val;
    for (int64_t i = 0; i < m->n; i++) rs[i] = 0;
    for (int64_t i = 0; i < m->n; i++) {
        for (int64_t p = start_of(m, i); p < start_of(m, i + 1); p++) {
            const int64_t j = column_of(m, p);
            if (j == i) pivot[i] = val[p];
            else rs[columns ? j : i] += PetscAbsScalar(val[p]);
        }
    }
}

static PetscBool is_bad(const MatFactorInfo *info, PetscScalar pivot, PetscReal rs)
{
    if (info->shifttype == (PetscReal)MAT_SHIFT_NONZERO)
        return (PetscBool)(PetscAbsScalar(pivot) <= info->zeropivot * rs);
    if (info->shifttype == (PetscReal)MAT_SHIFT_POSITIVE_DEFINITE)
        return (PetscBool)(PetscRealPart(pivot) <= info->zeropivot * rs);
    return (PetscBool)(PetscAbsScalar(pivot) <= info->zeropivot);
}

/* Look for a bad pivot in incomplete factors; rc becomes TRS_EPIVOT then. */
static PetscErrorCode check_pivots(Mat F, const MatFactorInfo *info, int *rc)
{
    trs_petsc *f = F->data;
    const PetscBool symmetric = trs_petsc_symmetric(F);
    const PetscBool stay = (PetscBool)(symmetric || info->shifttype == (PetscReal)MAT_SHIFT_NONE);
    PetscReal *rs;
    PetscScalar *pivot;
    trs_lu_info facts;
    trs_mat m;
    PetscFunctionBegin;
    if (*rc || !trs_petsc_incomplete(F)) PetscFunctionReturn(0);
    TrsPetscCall(trs_lu_peek_info(f->lu, &facts));
    if (facts.block) PetscFunctionReturn(0);
    if (f->options.device != TRS_HOST && stay) PetscFunctionReturn(0);
    if (info->shifttype == (PetscReal)MAT_SHIFT_INBLOCKS) PetscFunctionReturn(0);
    TrsPetscCall(trs_lu_factors(f->lu, &m, NULL, NULL, NULL, NULL));
    PetscCall(PetscMalloc2((size_t)m.n, &rs, (size_t)m.n, &pivot));
    off_diagonal_sums(&m, symmetric, rs, pivot);
    for (int64_t i = 0; i < m.n && !*rc; i++) {
        const PetscScalar p = symmetric ? pivot[i] * pivot[i] : pivot[i];
        const PetscReal sum = symmetric ? rs[i] * PetscAbsScalar(pivot[i]) : rs[i];
        if (!is_bad(info, p, sum)) continue;
        *rc = TRS_EPIVOT;
        F->factorerror_zeropivot_value = PetscAbsScalar(p);
        F->factorerror_zeropivot_row = (PetscInt)i;
        PetscCall(PetscSNPrintf(f->why, sizeof f->why,
                                "row %" PetscInt64_FMT
                                ": pivot of size %g, -pc_factor_zeropivot %g",
                                (PetscInt64)i, (double)PetscAbsScalar(p), (double)info->zeropivot));
    }
    PetscCall(PetscFree2(rs, pivot));
    PetscFunctionReturn(0);
}

/* ---- shifts ---------------------------------------------------------------------------------- */

/* Call visit for every number of M: row, column, place in val.  Blocks are stored by columns. */
typedef void (*visit_fn)(void *user, int64_t i, int64_t j, int64_t p);
static void each_number(const trs_mat *m, visit_fn visit, void *user)
{
    const PetscInt *ptr = m->ptr, *idx = m->idx;
    const int64_t b = m->format == TRS_BSR ? m->block : 1;
    for (int64_t row = 0; row < m->n / b; row++)
        for (int64_t p = ptr[row]; p < ptr[row + 1]; p++)
            for (int64_t k = 0; k < b * b; k++)
                visit(user, row * b + k % b, idx[p] * b + k / b, p * b * b + k);
}

typedef struct shifting {
    const PetscScalar *val;
    PetscScalar *shifted;
    PetscReal shift, *sums;
    PetscBool half; /* one triangle is stored */
    int64_t diagonals;
} shifting;

static void add_shift(void *user, int64_t i, int64_t j, int64_t p)
{
    shifting *s = user;
    s->shifted[p] = s->val[p] + (i == j ? s->shift : 0);
    s->diagonals += i == j;
}

static void add_to_sum(void *user, int64_t i, int64_t j, int64_t p)
{
    shifting *s = user;
    const PetscReal size = PetscAbsScalar(s->val[p]);
    s->sums[i] += i == j ? -PetscRealPart(s->val[p]) : size;
    if (s->half && i != j) s->sums[j] += size;
}

/* Make room for shifted values, and find 1.1 times the largest sum |a(i, j)| - a(i, i), the shift that makes A
 * diagonally dominant. */
static PetscErrorCode prepare(const trs_mat *M, PetscReal least, PetscScalar **shifted,
                              PetscReal *top)
{
    const int64_t b = M->format == TRS_BSR ? M->block : 1;
    shifting s = {.val = M->val, .half = (PetscBool)(M->kind != 0)};
    PetscFunctionBegin;
    PetscCall(PetscMalloc1((size_t)(M->nnz * b * b), shifted));
    PetscCall(PetscCalloc1((size_t)M->n, &s.sums));
    each_number(M, add_to_sum, &s);
    *top = least;
    for (int64_t i = 0; i < M->n; i++) *top = PetscMax(*top, s.sums[i]);
    *top *= (PetscReal)1.1;
    PetscCall(PetscFree(s.sums));
    PetscFunctionReturn(0);
}

/* The next shift to try, if there is one.  bad: the last attempt met a bad pivot; L U with good pivots tries whether a
 * smaller shift does. */
static PetscBool next_shift(search *s, Mat F, const MatFactorInfo *info, PetscBool bad)
{
    const PetscBool refine = (PetscBool)(!trs_petsc_symmetric(F) && s->fraction > 0);
    if (info->shifttype == (PetscReal)MAT_SHIFT_NONZERO) {
        if (!bad || s->attempts++ == DOUBLINGS) return PETSC_FALSE;
        s->shift = s->shift > 0 ? 2 * s->shift : info->shiftamount;
        return PETSC_TRUE;
    }
    if (info->shifttype != (PetscReal)MAT_SHIFT_POSITIVE_DEFINITE) return PETSC_FALSE;
    if (bad ? s->attempts > BISECTIONS : !refine || s->attempts >= BISECTIONS) return PETSC_FALSE;
    if (bad) s->low = s->fraction;
    else s->high = s->fraction;
    s->fraction = bad && s->attempts == BISECTIONS ? s->high : (s->high + s->low) / 2;
    s->shift = s->fraction * s->top;
    s->attempts++;
    return PETSC_TRUE;
}

/* M with the values of M + shift I. */
static PetscErrorCode shift_values(const trs_mat *M, PetscReal shift, PetscScalar *shifted)
{
    shifting s = {.val = M->val, .shifted = shifted, .shift = shift};
    PetscFunctionBegin;
    each_number(M, add_shift, &s);
    PetscCheck(s.diagonals == M->n, PETSC_COMM_SELF, PETSC_ERR_ARG_WRONGSTATE,
               "trisolve cannot shift a diagonal of which %" PetscInt64_FMT " of %" PetscInt64_FMT
               " entries are stored",
               (PetscInt64)s.diagonals, (PetscInt64)M->n);
    PetscFunctionReturn(0);
}

PetscErrorCode trs_petsc_shifted(Mat F, trs_petsc_source *source, const MatFactorInfo *info,
                                 int *rc)
{
    trs_petsc *f = F->data;
    search s = {.high = 1};
    const trs_mat *M = &source->mat;
    trs_mat m = *M;
    PetscScalar *shifted = NULL;
    PetscFunctionBegin;
    for (;;) {
        *rc = trs_petsc_attempt(F, &m, info);
        PetscCall(PetscStrncpy(f->why, trs_message(), sizeof f->why));
        PetscCall(check_pivots(F, info, rc));
        if (*rc && *rc != TRS_EPIVOT) break;
        if (*rc && !shifted) {
            PetscCall(trs_petsc_to_host(source));
            PetscCall(prepare(M, info->zeropivot, &shifted, &s.top));
            m = *M;
        }
        if (!next_shift(&s, F, info, (PetscBool)(*rc != 0))) break;
        PetscCall(shift_values(M, s.shift, shifted));
        m.val = shifted;
    }
    f->shift = s.shift;
    if (s.shift > 0)
        PetscCall(PetscInfo(F, "%d shifts of the diagonal, the last by %g\n", s.attempts,
                            (double)s.shift));
    PetscCall(PetscFree(shifted));
    PetscFunctionReturn(0);
}
