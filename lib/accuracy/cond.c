/* cond.c: an estimate of the condition number of a triangle, or of a matrix with factors, in the 1-norm or infinity norm.
 *
 *     1 / condition = 1 / (|A|_1 |A^-1|_1),    |A^-1|_1 = max |A^-1 v|_1 over |v|_1 = 1, which a unit vector attains
 *
 * |A^-1|_1 is estimated from below by a few solves.  In Hager's method, x = A^-1 v and z = A^-H sign (x), the gradient of
 * |A^-1 v|_1, tell which unit vector to try next: the one where |z| is largest.  Higham's alternating vector is tried in
 * the end, for there are matrices for which Hager's method stops far too early.  The steps are those of LAPACK's lacn2, and
 * the result is that of trcon.  The infinity norm of A^-1 is the 1-norm of A^-H.
 * Factors that solve with only one of the two ops give a lower bound that is less sharp: a few steps of inverse iteration,
 * |A^-1 v| / |v|, where v is the x of the step before (for A', in the other norm).
 * The vectors of the estimate are on the host, n numbers a step, wherever A is and the plan solves.
 * Sources: Hager, Condition estimates, SIAM J. Sci. Stat. Comput. 5 (1984) 311-316; Higham, FORTRAN codes for estimating
 * the one-norm of a real or complex matrix, ACM TOMS 14 (1988) 381-396. */
#include "config.h"

#include "base/debug.h"
#include "base/device.h"
#include "factor/lu_hosted.h"
#include "factor/lu_mat.h"
#include "residual.h"
#include "factor/lu_first.h"

#include <math.h>

static const double GOLDEN = 0.6180339887498949; /* its multiples modulo 1 look random */

enum { STEPS = 4 }; /* of inverse iteration */
enum { TRIES = 5 }; /* vectors of Hager's method, at most: LAPACK's itmax */

typedef struct estimator {
    const trs_plan *plan; /* what solves; NULL: lu does */
    trs_lu *lu;           /* NULL: plan does */
    void *stage;          /* of a plan, or of factors, that solve on the device */
    /* the ops that apply A^-1 and A^-H; for the infinity norm, A^-H and A^-1 */
    trs_op inverse, adjoint;
    int64_t n;
    trs_dtype type;
    void *x;     /* [n] */
    bool one_op; /* there is no adjoint */
    bool sum;    /* then |x| is the 1-norm, not the infinity norm */
} estimator;

/* x = op(A)^-1 x */
static int solve(const estimator *s, trs_op op)
{
    static const trs_exec defaults = {0};
    if (s->lu) return trs_lu_solve_hosted(s->lu, op, s->x, s->stage, &defaults);
    return trs_solve_hosted(s->plan, op, s->x, s->stage, &defaults);
}

/* |x(i)|, with x(i) in z. */
static double at(const estimator *s, int64_t i, double z[2])
{
    trs_number_get(s->x, s->type, i, z);
    return hypot(z[0], z[1]);
}

static void set(const estimator *s, int64_t i, double value)
{
    const double z[2] = {value, 0};
    trs_number_put(s->x, s->type, i, z);
}

/* |x|_1 */
static double norm(const estimator *s)
{
    double z[2], sum = 0;
    for (int64_t i = 0; i < s->n; i++) sum += at(s, i, z);
    return sum;
}

/* x(i) = x(i) / |x(i)|, or 1 when x(i) = 0; sign [2*n] keeps a copy.  Has no sign changed?  That ends the search for real
 * x, since the same signs lead to the same unit vector again. */
static bool take_signs(const estimator *s, double *sign)
{
    bool same = !trs_is_complex(s->type);
    for (int64_t i = 0; i < s->n; i++) {
        double z[2], a = at(s, i, z);
        if (a > 0) z[0] /= a, z[1] /= a;
        else z[0] = 1, z[1] = 0;
        same &= z[0] == sign[2 * i];
        sign[2 * i] = z[0], sign[2 * i + 1] = z[1];
        trs_number_put(s->x, s->type, i, z);
    }
    return same;
}

/* The first i for which |x(i)| is largest. */
static int64_t largest(const estimator *s)
{
    int64_t j = 0;
    double z[2], most = -1;
    for (int64_t i = 0; i < s->n; i++)
        if (at(s, i, z) > most) most = at(s, i, z), j = i;
    return j;
}

/* x = A^-1 e(j), and its norm. */
static int unit_vector(const estimator *s, int64_t j, double *value)
{
    TRS_ASSERT(j >= 0 && j < s->n);
    for (int64_t i = 0; i < s->n; i++) set(s, i, i == j);
    int rc = solve(s, s->inverse);
    *value = norm(s);
    return rc;
}

/* x = A^-1 v with v = (1, -1 - 1/(n-1), 1 + 2/(n-1), ...), whose norm is 3 n / 2; so value = |x| / |v| is another lower
 * bound. */
static int alternating_vector(const estimator *s, double *value)
{
    TRS_ASSERT(s->n > 1);
    for (int64_t i = 0; i < s->n; i++)
        set(s, i, (i % 2 ? -1 : 1) * (1 + (double)i / (double)(s->n - 1)));
    int rc = solve(s, s->inverse);
    *value = 2 * norm(s) / (double)(3 * s->n);
    return rc;
}

/* Hager's search; sign [2*n] is work space. */
static int search(const estimator *s, double *sign, double *best)
{
    double z[2], value;
    for (int64_t i = 0; i < s->n; i++) set(s, i, 1 / (double)s->n), sign[2 * i] = 0;
    int rc = solve(s, s->inverse);
    *best = norm(s);
    if (rc || s->n == 1) return rc;
    take_signs(s, sign);
    if ((rc = solve(s, s->adjoint))) return rc;
    int64_t j = largest(s);
    for (int k = 2; k <= TRIES; k++) {
        if ((rc = unit_vector(s, j, &value))) return rc;
        const double last = *best;
        *best = value;
        if (take_signs(s, sign) || value <= last) break;
        if ((rc = solve(s, s->adjoint))) return rc;
        const int64_t before = j;
        j = largest(s);
        if (at(s, before, z) == at(s, j, z)) break;
    }
    rc = alternating_vector(s, &value);
    if (value > *best) *best = value;
    return rc;
}

/* The 1-norm, or the largest |x(i)|. */
static double norm_in(const estimator *s, bool sum)
{
    double z[2];
    return sum ? norm(s) : at(s, largest(s), z);
}

/* Inverse iteration with the op `inverse`, in the 1-norm or the infinity norm. */
static int iterate(const estimator *s, bool sum, double *best)
{
    double z[2];
    for (int64_t i = 0; i < s->n; i++) set(s, i, fmod(GOLDEN * (double)(i + 1), 1) - 0.5);
    *best = 0;
    for (int k = 0; k < STEPS; k++) {
        const double size = norm_in(s, sum);
        if (!(size > 0 && isfinite(size))) break;
        for (int64_t i = 0; i < s->n; i++) {
            at(s, i, z);
            z[0] /= size, z[1] /= size;
            trs_number_put(s->x, s->type, i, z);
        }
        const int rc = solve(s, s->inverse);
        if (rc) return rc;
        const double value = norm_in(s, sum);
        if (!(value <= *best)) *best = value;
    }
    return TRS_OK;
}

/* |A^-1| in the 1-norm; NaN and Inf are passed on. */
static int inverse_norm(estimator *s, const trs_memory *mem, double *value)
{
    *value = 0;
    if (s->n == 0) return TRS_OK;
    s->x = trs_alloc(mem, s->n, trs_size(s->type));
    double *sign = trs_alloc(mem, 2 * s->n, sizeof *sign);
    int rc = TRS_EMEM;
    if (s->x && sign && s->one_op) rc = iterate(s, s->sum, value);
    else if (s->x && sign) rc = search(s, sign, value);
    else trs_fail(rc, "condition: out of memory for a vector");
    trs_free_all(mem, sign, s->x);
    return rc;
}

/* |A| in the 1-norm or the infinity norm: the largest sum of a column, or of a row. */
static int matrix_norm(const trs_memory *mem, const trs_mat *A, trs_norm which, double *value)
{
    double *sum = trs_alloc_zero(mem, A->n, sizeof *sum), z[2];
    *value = 0;
    if (!sum) return trs_fail(TRS_EMEM, "condition: out of memory for the sums");
    for (int64_t l = 0; l < A->n; l++) {
        const int64_t end = trs_major_end(A, l);
        for (int64_t p = trs_major_begin(A, l); p < end; p++) {
            const int64_t c = trs_minor_index(A, l, p), i = A->format == TRS_CSR ? l : c;
            const int64_t j = l + c - i;
            TRS_ASSERT(c >= 0 && c < A->n);
            if (!trs_in_triangle(A->kind, i, j) || (i == j && A->kind & TRS_UNIT)) continue;
            trs_number_get(A->val, A->dtype, p, z);
            sum[which == TRS_NORM_ONE ? j : i] += hypot(z[0], z[1]);
        }
        if (A->kind & TRS_UNIT) sum[l] += 1;
    }
    for (int64_t i = 0; i < A->n; i++)
        if (!(sum[i] <= *value)) *value = sum[i];
    trs_free(mem, sum);
    return TRS_OK;
}

/* The same on the device of A, where the largest row sum of A' is the 1-norm. */
static int norm_there(const trs_mat *A, trs_norm which, double *value)
{
    trs_context ctx = trs_device_context(A);
    trs_device_rows rows;
    int64_t longest;
    *value = 0;
    if (A->n == 0) return TRS_OK;
    int rc = trs_rows_open(&ctx, A, which == TRS_NORM_ONE ? TRS_T : TRS_N, true, NULL, &rows);
    void *scratch = NULL;
    if (!rc) scratch = trs_gpu_new(&ctx, trs_gpu_residual_bytes(1), 1, "a norm");
    if (scratch) rc = trs_gpu_survey(&rows.lines, scratch, &longest, value, NULL);
    else if (!rc) rc = TRS_EMEM;
    trs_gpu_free(&ctx, scratch);
    trs_rows_close(&ctx, &rows);
    return rc;
}

/* The same wherever A is. */
static int norm_of(const trs_memory *mem, const trs_mat *A, trs_norm which, double *value)
{
    trs_context ctx = {.mem = *mem};
    trs_mat scalar;
    if (A->device > 0) return norm_there(A, which, value);
    int rc = trs_expand(&ctx, A, &scalar);
    if (rc) return rc;
    rc = matrix_norm(mem, &scalar, which, value);
    trs_expand_done(&ctx, A, &scalar);
    return rc;
}

/* rcond is 0 when a norm overflows, which means that A is numerically singular. */
static int reciprocal(estimator *s, const trs_memory *mem, const trs_mat *A, trs_norm which,
                      double *rcond)
{
    double a = 0, inverse = 0;
    s->n = A->n;
    s->sum = (which == TRS_NORM_ONE) == (s->inverse == TRS_N);
    if (!s->one_op) {
        s->inverse = which == TRS_NORM_ONE ? TRS_N : TRS_H;
        s->adjoint = which == TRS_NORM_ONE ? TRS_H : TRS_N;
    }
    int rc = norm_of(mem, A, which, &a);
    if (!rc) rc = inverse_norm(s, mem, &inverse);
    if (rc) return rc;
    *rcond = 0;
    if (isfinite(a) && isfinite(inverse)) *rcond = 1 / a / inverse;
    if (A->n == 0) *rcond = 1;
    return TRS_OK;
}

static int check(const trs_mat *A, trs_norm which)
{
    if ((unsigned)which > TRS_NORM_INF) return trs_fail(TRS_EARG, "condition: unknown norm");
    return trs_check_where(A);
}

static int condest(const trs_plan *plan, const trs_mat *T, trs_norm which, double *rcond)
{
    const unsigned same = TRS_LOWER | TRS_UPPER | TRS_UNIT | TRS_PERMUTED | TRS_SELFADJOINT;
    if (!rcond) return trs_fail(TRS_EARG, "condition: rcond is NULL");
    *rcond = 0;
    if (!plan || !T) return trs_fail(TRS_EARG, "condition: plan or T is NULL");
    int rc = check(T, which);
    if (rc) return rc;
    const unsigned ops = 1u << TRS_N | 1u << TRS_H;
    if (plan->state != TRS_READY || (plan->ctx.ops & ops) != ops)
        return trs_fail(TRS_ESTATE, "condition: the plan cannot be solved with TRS_N and TRS_H");
    if (T->n != plan->info.n || T->dtype != plan->given.dtype ||
        (T->kind & same) != (plan->given.kind & same))
        return trs_fail(TRS_EARG, "condition: T is not the matrix of the plan");
    const trs_memory mem = plan->ctx.mem;
    estimator s = {.plan = plan, .type = T->dtype};
    rc = trs_hosted_new(plan, &s.stage);
    if (!rc) rc = reciprocal(&s, &mem, T, which, rcond);
    trs_hosted_free(plan, s.stage);
    return rc;
}

int trs_condest(const trs_plan *plan, const trs_mat *T, trs_norm which, double *rcond)
{
    return trs_call(condest(plan, T, which, rcond));
}

/* Can the factors solve with this op? */
static bool solves(const trs_lu *lu, trs_op op)
{
    const unsigned ops = lu->opt.ops ? lu->opt.ops : 1u << TRS_N;
    return lu->f.cholesky || ops & 1u << op;
}

static int lu_condest(trs_lu *lu, const trs_mat *A, trs_norm which, double *rcond)
{
    if (!rcond) return trs_fail(TRS_EARG, "condition: rcond is NULL");
    *rcond = 0;
    if (!lu || !A) return trs_fail(TRS_EARG, "condition: lu or A is NULL");
    int rc = check(A, which);
    if (rc) return rc;
    const int64_t n = trs_lu_ready_rows(lu);
    if (n < 0) return trs_fail(TRS_ESTATE, "condition: there are no factors");
    if ((A->kind && !trs_is_half(A)) || A->n != n || A->dtype != lu->dtype)
        return trs_fail(TRS_EARG, "condition: A is not the matrix that was factored");
    estimator s = {.lu = lu, .type = A->dtype};
    s.one_op = !solves(lu, TRS_N) || !solves(lu, TRS_H);
    while (s.one_op && !solves(lu, s.inverse)) s.inverse++;
    rc = trs_lu_hosted_new(lu, &s.stage);
    if (!rc) rc = reciprocal(&s, &lu->mem, A, which, rcond);
    trs_lu_hosted_free(lu, s.stage);
    return rc;
}

int trs_lu_condest(trs_lu *lu, const trs_mat *A, trs_norm which, double *rcond)
{
    return trs_call(lu_condest(lu, A, which, rcond));
}
