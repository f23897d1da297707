/* ilu.c: ILU(k), IC(k), ILUT and ICT of a sparse matrix, as the factors of a trs_lu.
 *
 *     A --import both triangles--> rows with ascending columns and every diagonal entry
 *       --order.c--> rows of A(P, P) --fill.c, threshold.c--> the pattern; fill has no place in A
 *       --plan of L--> levels --ilu_rows.c--> values --trs_plan_update--> plans of L and U
 *
 * L + U - I is stored in one CSR matrix, and the plans of L and U read one triangle of it each.  The plan of L is made before
 * the values of L are known, because its levels are also those of the factorisation.  New values of A are copied to
 * their places through src and factored again, without a new analysis.
 * A diagonal entry that A does not have becomes an entry of the factors; it is zero before elimination. */
#include "config.h"

#include "ilu_blocks.h"
#include "fill.h"
#include "threshold.h"
#include "base/debug.h"
#include "base/device.h"
#include "base/parallel.h"
#include "factor/device/lu_device.h"
#include "factor/lu_mat.h"
#include "factor/order.h"
#include "matrix/whole.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

typedef struct ilu {
    trs_ilu_rows rows;
    int level;  /* of fill */
    bool drops; /* ILUT, ICT */
    double drop_tol, fill_factor;
    trs_ilu_ordering ordering;
    trs_ilu_blocks blocks; /* if blocks.b > 0, the factors; else rows has them */
    char name[24];         /* "ILU(0)" */
    trs_mat shape;         /* the first A, without its arrays: all later ones have its pattern */
} ilu;

static bool is_cholesky(trs_ilu_method method)
{
    return method == TRS_IC0 || method == TRS_ICT;
}

static bool drops(trs_ilu_method method)
{
    return method == TRS_ILUT || method == TRS_ICT;
}

/* Do factors by blocks alone have this method? */
static bool is_diagonal(trs_ilu_method method)
{
    return method == TRS_DILU || method == TRS_BLOCK_JACOBI;
}

/* Does A have factors by blocks, if it has blocks? */
static bool may_have_blocks(const trs_ilu_options *opt)
{
    if (is_diagonal(opt->method)) return true;
    return (opt->method == TRS_ILU0 || opt->method == TRS_IC0) && opt->level == 0 &&
           opt->ordering == TRS_ILU_NATURAL && !opt->plan.solver && !opt->plan.sweeps &&
           opt->plan.pivot == TRS_PIVOT_FAIL && opt->block != 1;
}

/* ---- pattern -------------------------------------------------------------------------------- */

/* t = one triangle of A by rows, with all of the diagonal: an entry that A does not have gets src = TRS_SRC_MISSING. */
static int triangle_rows(trs_context *ctx, const trs_mat *A, unsigned kind, trs_tri *t)
{
    trs_mat m = *A;
    trs_tri columns;
    m.kind = kind;
    int rc = trs_tri_import(ctx, &m, t);
    if (rc || trs_by_rows(A)) return rc;
    columns = *t;
    rc = trs_tri_transpose(ctx, &columns, true, t);
    trs_tri_free(ctx, &columns);
    return rc;
}

/* Append entries begin..end-1 of `from` to t, which has *q so far. */
static void copy_entries(trs_tri *t, int64_t *q, const trs_tri *from, int64_t begin, int64_t end)
{
    const size_t count = (size_t)(end - begin);
    if (!count) return;
    memcpy(t->idx + *q, from->idx + begin, count * sizeof *t->idx);
    if (from->src) memcpy(t->src + *q, from->src + begin, count * sizeof *t->src);
    for (int64_t p = begin; p < end && !from->src; p++) t->src[*q + p - begin] = p;
    *q += end - begin;
}

static int rows_new(trs_context *ctx, trs_tri *t)
{
    t->ptr = trs_new(ctx, (int64_t)t->n + 1, sizeof *t->ptr, "row pointers");
    t->idx = trs_new(ctx, t->nnz, sizeof *t->idx, "columns");
    t->val = trs_new(ctx, t->nnz, trs_size(t->dtype), "values");
    return t->ptr && t->idx && t->val ? TRS_OK : TRS_EMEM;
}

/* t = L + U - I, row by row: the row of L with its diagonal, then that of U without. */
static int join(trs_context *ctx, const trs_tri *L, const trs_tri *U, trs_tri *t)
{
    *t = (trs_tri){.n = L->n, .nnz = L->nnz + U->nnz - L->n, .dtype = L->dtype};
    t->src = trs_new(ctx, t->nnz, sizeof *t->src, "places of the values");
    if (!t->src || rows_new(ctx, t)) return TRS_EMEM;
    int64_t q = 0;
    for (int32_t i = 0; i < t->n; i++) {
        t->ptr[i] = q;
        copy_entries(t, &q, L, L->ptr[i], L->ptr[i + 1]);
        copy_entries(t, &q, U, U->ptr[i] + 1, U->ptr[i + 1]);
    }
    TRS_ASSERT(q == t->nnz);
    t->ptr[t->n] = q;
    return TRS_OK;
}

typedef struct whole_rows {
    const trs_mat *A;
    trs_tri *t;
    atomic_bool good; /* columns ascend, and no diagonal entry is missing */
} whole_rows;

static void copy_rows(void *user, int64_t begin, int64_t end)
{
    whole_rows *w = user;
    bool good = true;
    for (int64_t i = begin; i < end && good; i++) {
        const int64_t last = trs_major_end(w->A, i);
        int64_t before = -1;
        bool diagonal = false;
        for (int64_t p = trs_major_begin(w->A, i); p < last; p++) {
            const int64_t j = trs_minor_index(w->A, i, p);
            good &= j > before;
            diagonal |= j == i;
            before = j;
            w->t->idx[p] = (int32_t)j;
        }
        w->t->ptr[i + 1] = last;
        good &= diagonal;
    }
    if (!good) w->good = false;
}

/* t = A as it is stored, if A is CSR and has all that rows of factors have.  *done = false: it has not, and t is empty. */
static int import_rows(trs_context *ctx, const trs_mat *A, trs_tri *t, bool *done)
{
    enum { EACH = 1024 };
    whole_rows w = {.A = A, .t = t, .good = true};
    *done = false;
    if (A->format != TRS_CSR || A->n == 0) return TRS_OK;
    int rc = trs_check_mat(A);
    if (rc) return rc;
    *t = (trs_tri){.n = (int32_t)A->n, .nnz = trs_major_end(A, A->n - 1), .dtype = A->dtype};
    rc = rows_new(ctx, t);
    if (!rc) {
        t->ptr[0] = 0;
        trs_share(trs_team(ctx, t->nnz), A->n, EACH, copy_rows, &w);
        *done = w.good;
    }
    if (!*done) trs_tri_free(ctx, t);
    return rc;
}

/* t = both triangles of A, or for L L^H in the order of A the lower one alone. */
static int import(trs_context *ctx, const trs_mat *A, bool lower_only, trs_tri *t)
{
    trs_tri L = {0}, U = {0};
    bool done = false;
    int rc = lower_only ? TRS_OK : import_rows(ctx, A, t, &done);
    if (rc || done) return rc;
    rc = triangle_rows(ctx, A, TRS_LOWER, &L);
    if (!rc && lower_only) {
        *t = L;
        return TRS_OK;
    }
    if (!rc) rc = triangle_rows(ctx, A, TRS_UPPER, &U);
    if (!rc) rc = join(ctx, &L, &U, t);
    trs_tri_free(ctx, &U);
    trs_tri_free(ctx, &L);
    return rc;
}

/* Drop what is above the diagonal. */
static void keep_lower(trs_tri *t)
{
    int64_t q = 0;
    for (int32_t i = 0; i < t->n; i++) {
        const int64_t begin = t->ptr[i];
        t->ptr[i] = q;
        for (int64_t p = begin; p < t->ptr[i + 1] && t->idx[p] <= i; p++, q++) {
            TRS_ASSERT(q <= p);
            t->idx[q] = t->idx[p];
            t->src[q] = t->src[p];
        }
    }
    t->ptr[t->n] = t->nnz = q;
}

/* t = A(P, P), and P goes to the lu. */
static int permute(trs_context *ctx, trs_lu *lu, const ilu *s, trs_tri *t)
{
    trs_tri old = *t;
    int32_t *perm = trs_new(ctx, old.n, sizeof *perm, "an order");
    int rc = perm ? TRS_OK : TRS_EMEM;
    lu->f.P = trs_lu_alloc(lu, old.n, sizeof *lu->f.P, "P");
    if (!s->rows.cholesky) lu->f.Q = trs_lu_alloc(lu, old.n, sizeof *lu->f.Q, "Q");
    if (!lu->f.P || (!lu->f.Q && !s->rows.cholesky)) rc = TRS_EMEM;
    if (!rc) rc = trs_order_rows(ctx, &old, s->ordering, perm);
    if (!rc) rc = trs_tri_permute(ctx, &old, perm, t);
    for (int32_t k = 0; k < old.n && !rc; k++) {
        lu->f.P[k] = perm[k];
        if (lu->f.Q) lu->f.Q[k] = perm[k];
    }
    trs_free(&ctx->mem, perm);
    if (rc) *t = old;
    else trs_tri_free(ctx, &old);
    return rc;
}

/* How many entries the factors of a pattern with nnz entries may have. */
static int64_t most_entries(const trs_lu *lu, const ilu *s, int64_t nnz)
{
    enum { FACTOR = 100, LEAST = 10000000, FACTOR_OF_LARGE = 10 };
    const int64_t bytes = lu->opt.memory_limit, entry = (int64_t)trs_size(lu->dtype) + 4;
    const double most = s->fill_factor * (double)nnz;
    int64_t count = s->drops ? FACTOR_OF_LARGE * nnz : trs_max(FACTOR * nnz, LEAST);
    if (s->fill_factor > 0) count = most < 1e18 ? (int64_t)most : INT64_MAX;
    return bytes ? trs_min(count, bytes / entry) : count;
}

/* Row k of the factors as sentences count it, which is a row, or a column, of A. */
static int64_t line_of(const trs_lu *lu, int64_t k)
{
    return (lu->f.P ? lu->f.P[k] : k) + lu->base;
}

static int check_finite(trs_lu *lu, const trs_tri *t)
{
    for (int32_t i = 0; i < t->n; i++)
        for (int64_t p = t->ptr[i]; p < t->ptr[i + 1]; p++) {
            double z[2];
            trs_number_get(t->val, t->dtype, p, z);
            if (isfinite(z[0]) && isfinite(z[1])) continue;
            return trs_fail(TRS_EMATRIX,
                            "row %" PRId64 ", column %" PRId64 ": the value is not finite",
                            line_of(lu, i), line_of(lu, t->idx[p]));
        }
    return TRS_OK;
}

/* Make t the pattern that the values of A ask for. */
static int drop_small(trs_context *ctx, trs_lu *lu, const ilu *s, const trs_mat *A, trs_tri *t)
{
    const trs_ilu_rows *f = &s->rows;
    const trs_threshold h = {.cholesky = f->cholesky,
                             .drop_tol = s->drop_tol,
                             .shift = f->shift,
                             .boost = f->boost,
                             .most = most_entries(lu, s, t->nnz)};
    trs_tri_read_values(ctx, t, A->val);
    const int rc = check_finite(lu, t);
    return rc ? rc : trs_threshold_fill(ctx, t, &h);
}

/* t = the rows that will hold the factors. */
static int make_rows(trs_context *ctx, trs_lu *lu, const ilu *s, const trs_mat *A, trs_tri *t)
{
    const bool permuted = s->ordering != TRS_ILU_NATURAL, cholesky = s->rows.cholesky;
    int rc = trs_step("import", -1);
    if (!rc) rc = import(ctx, A, cholesky && !permuted, t);
    if (!rc && permuted) rc = trs_step("ordering", -1);
    if (!rc && permuted) rc = permute(ctx, lu, s, t);
    if (!rc && permuted && cholesky) keep_lower(t);
    if (!rc && s->drops) rc = drop_small(ctx, lu, s, A, t);
    if (!rc && s->level > 0) rc = trs_fill(ctx, t, s->level, cholesky, most_entries(lu, s, t->nnz));
    return rc;
}

/* diag = the places of the diagonal. */
static int find_diagonal(trs_context *ctx, const trs_tri *t, int64_t **diag)
{
    *diag = trs_new(ctx, t->n, sizeof **diag, "places of the diagonal");
    if (!*diag) return TRS_EMEM;
    for (int32_t i = 0; i < t->n; i++) {
        int64_t p = t->ptr[i];
        while (t->idx[p] < i) p++;
        TRS_ASSERT(t->idx[p] == i);
        (*diag)[i] = p;
    }
    return TRS_OK;
}

/* ---- values --------------------------------------------------------------------------------- */

int trs_ilu_say_fault(const trs_lu *lu, int64_t k, trs_ilu_fault fault, bool missing)
{
    static const char *const what[] = {"", "zero",
                                       "negative: A is not positive definite, or loses "
                                       "that with the entries left out",
                                       "not finite"};
    TRS_ASSERT(fault > TRS_ILU_GOOD && fault <= TRS_ILU_INFINITE && k >= 0 && k < lu->f.L.n);
    return trs_fail(TRS_EPIVOT, "row %" PRId64 ": the pivot of %s is %s%s", line_of(lu, k),
                    lu->f.library, what[fault], missing ? " (A has no diagonal entry there)" : "");
}

int trs_ilu_say_block_fault(const trs_lu *lu, const trs_ilu_blocks *m, int64_t k,
                            trs_ilu_fault fault)
{
    static const char *const what[] = {"", "singular",
                                       "not positive definite: A is not, or loses that with the "
                                       "blocks left out",
                                       "not finite"};
    const int64_t first = k * m->b + lu->base;
    TRS_ASSERT(fault > TRS_ILU_GOOD && fault <= TRS_ILU_INFINITE && k >= 0 && k < m->n);
    return trs_fail(TRS_EPIVOT, "rows %" PRId64 " to %" PRId64 ": the diagonal block of %s is %s",
                    first, first + m->b - 1, lu->f.library, what[fault]);
}

/* What the factorisation has found. */
static int take_outcome(trs_lu *lu, ilu *s, const trs_ilu_outcome *o)
{
    const trs_ilu_rows *f = &s->rows;
    const trs_ilu_blocks *m = &s->blocks;
    const int rc = trs_canceled();
    if (rc) return rc;
    lu->info.boosted = o->boosted;
    if (o->fault == TRS_ILU_GOOD) return TRS_OK;
    lu->bad = o->bad;
    if (m->b) {
        lu->first_bad = o->first * m->b;
        return trs_ilu_say_block_fault(lu, m, o->first, o->fault);
    }
    lu->first_bad = lu->f.P ? lu->f.P[o->first] : o->first;
    /* src = NULL: A has every diagonal entry, and its values are in order */
    const int64_t *src = f->t.src;
    const bool missing = src && src[f->diag[o->first]] == TRS_SRC_MISSING;
    return trs_ilu_say_fault(lu, o->first, o->fault, missing);
}

/* Factor A, whose values are val. */
static int compute(trs_lu *lu, ilu *s, const void *val)
{
    trs_ilu_rows *f = &s->rows;
    trs_ilu_blocks *m = &s->blocks;
    const double start = trs_now();
    const trs_context ctx = {.mem = lu->mem, .base = lu->base, .threads = m->b ? m->threads : 1};
    trs_ilu_outcome o;
    int rc;
    lu->bad = 0;
    if (m->b) rc = trs_ilu_blocks_values(&ctx, m, val);
    else {
        trs_tri_read_values(&ctx, &f->t, val);
        rc = check_finite(lu, &f->t);
    }
    if (rc) return rc;
    if (m->b) o = trs_ilu_blocks_factor(&ctx, m);
    else o = trs_ilu_compute(f);
    lu->info.seconds_factor = trs_now() - start;
    return take_outcome(lu, s, &o);
}

/* ---- a trs_lu ------------------------------------------------------------------------------- */

static void release(trs_lu *lu, void *data)
{
    ilu *s = data;
    trs_ilu_rows *f = &s->rows;
    trs_ilu_blocks_free(&lu->mem, &s->blocks);
    trs_lu_free(lu, f->t.src, f->diag, f->where, f->stage, f->progress, s);
}

/* The factors as the trs_lu shows them: it owns ptr, idx and val, once. */
static void show(trs_lu *lu, const ilu *s)
{
    const trs_tri *t = &s->rows.t;
    trs_mat *L = &lu->f.L, *U = &lu->f.U;
    *L = (trs_mat){.n = t->n, .nnz = t->nnz, .ptr = t->ptr, .idx = t->idx, .val = t->val};
    L->dtype = t->dtype;
    L->kind = TRS_LOWER;
    if (s->rows.cholesky) return;
    *U = *L;
    U->kind = TRS_UPPER;
    L->kind = TRS_LOWER | TRS_UNIT;
}

/* Set the values to those of the identity, for the first plan of L. */
static void set_identity(const trs_ilu_rows *f)
{
    const double one[2] = {1, 0};
    memset(f->t.val, 0, (size_t)f->t.nnz * trs_size(f->t.dtype));
    for (int32_t i = 0; i < f->t.n; i++) trs_number_put(f->t.val, f->t.dtype, f->diag[i], one);
}

static int count_threads(const trs_lu *lu)
{
    const int threads = lu->opt.threads > 0 ? lu->opt.threads : trs_default_threads();
    return (int)trs_min(threads, TRS_ILU_THREADS);
}

/* Make the plan of L, and cut its levels into stages. */
static int analyse(trs_lu *lu, ilu *s)
{
    trs_context ctx = {.mem = lu->mem};
    trs_ilu_rows *f = &s->rows;
    const int32_t *topo, *lv_ptr;
    trs_info info;
    int rc = find_diagonal(&ctx, &f->t, &f->diag);
    f->threads = count_threads(lu);
    if (rc) return rc;
    set_identity(f);
    rc = trs_lu_plan(lu, true);
    if (rc) return rc;
    f->where = trs_alloc_zero(&lu->mem, (int64_t)f->t.n * f->threads, sizeof *f->where);
    if (!f->where) return trs_fail(TRS_EMEM, "out of memory for the places of a row");
    rc = trs_plan_levels(lu->l, &topo, &lv_ptr);
    if (!rc) rc = trs_plan_info(lu->l, &info);
    if (!rc) rc = trs_ilu_stages(&ctx, f, topo, lv_ptr, (int32_t)info.levels);
    return rc;
}

static int check(trs_lu *lu, const ilu *s, const trs_mat *A)
{
    lu->base = A->base == 1;
    if (A->device > 0 && lu->opt.device <= 0)
        return trs_fail(TRS_ESUPPORT, "A must be in host memory");
    if (A->kind && !trs_is_half(A))
        return trs_fail(TRS_EARG, "kind must be 0, or say TRS_SELFADJOINT%s",
                        s->rows.cholesky ? ", or be TRS_LOWER" : "");
    return trs_check_where(A);
}

static int update(trs_lu *lu, const trs_mat *A)
{
    ilu *s = lu->backend;
    if (lu->device && lu->blocks)
        return trs_fail(TRS_ESTATE, "update: the factors are on a device");
    if (!lu->blocks && (!lu->l || !s->rows.topo))
        return trs_fail(TRS_ESTATE, "update: the pattern was never analysed");
    lu->ready = false;
    int rc = trs_lu_check_shape(&s->shape, A);
    if (!rc) rc = compute(lu, s, A->val);
    if (!rc && !lu->blocks) return trs_lu_plan(lu, false);
    if (!rc) rc = trs_lu_vectors(lu);
    lu->ready = !rc;
    return rc;
}

static void name_factors(ilu *s, trs_ilu_method method)
{
    const char *kind = s->rows.cholesky ? "IC" : "ILU";
    if (method == TRS_DILU) kind = "DILU";
    if (method == TRS_BLOCK_JACOBI) kind = "Jacobi";
    if (is_diagonal(method)) snprintf(s->name, sizeof s->name, "%s", kind);
    else if (s->drops) snprintf(s->name, sizeof s->name, "%sT", kind);
    else snprintf(s->name, sizeof s->name, "%s(%d)", kind, s->level);
}

/* ---- the first factors ---------------------------------------------------------------------- */

/* The rows are made: factor A, which is on the host, on the host. */
static int factor_here(trs_lu *lu, const trs_mat *A)
{
    show(lu, lu->backend);
    int rc = analyse(lu, lu->backend);
    const double first = lu->info.seconds_analyse; /* the plan of L */
    if (!rc) rc = update(lu, A);
    lu->info.seconds_analyse += first;
    return rc;
}

/* Which blocks is A, which is on the host, factored by?  0: by numbers.  The rows of A are made. */
static int choose_block(trs_context *ctx, const ilu *s, const trs_mat *A,
                        const trs_ilu_options *opt, int *b)
{
    enum { LEAST = 1000 };                        /* rows from which on blocks are searched for */
    const bool single = is_diagonal(opt->method); /* blocks of one number are wanted, too */
    *b = 0;
    if (!may_have_blocks(opt)) return TRS_OK;
    *b = (int)opt->block;
    if (!*b && A->format == TRS_BSR && A->block <= TRS_BLOCK_MOST) *b = A->block;
    if (!*b && A->n >= LEAST) {
        *b = trs_ilu_block_size(ctx, &s->rows.t, s->rows.cholesky);
        if (!*b) return TRS_EMEM;
    }
    if (*b <= 1) *b = single ? 1 : 0;
    if (!*b || A->n % *b == 0) return TRS_OK;
    return trs_fail(TRS_EARG, "block = %d, but n = %" PRId64 " is not a multiple", *b, A->n);
}

/* Make the pattern of blocks of b x b, in place of the rows. */
static int make_blocks(trs_context *ctx, trs_lu *lu, const trs_mat *A, trs_ilu_method method, int b)
{
    ilu *s = lu->backend;
    trs_ilu_blocks *m = &s->blocks;
    const bool diagonal = method == TRS_BLOCK_JACOBI;
    const unsigned transposed = lu->opt.ops & (1u << TRS_T | 1u << TRS_H);
    *m = (trs_ilu_blocks){.b = b, .dtype = A->dtype, .diagonal_only = method == TRS_DILU};
    m->cholesky = s->rows.cholesky;
    m->shift = s->rows.shift, m->boost = s->rows.boost;
    m->threads = count_threads(lu);
    ctx->limit = lu->opt.memory_limit;
    return trs_ilu_blocks_make(ctx, &s->rows.t, diagonal, transposed && !m->cholesky, m);
}

/* What the info says of these factors. */
static void show_blocks(trs_lu *lu, const trs_mat *A, double seconds)
{
    ilu *s = lu->backend;
    const trs_ilu_blocks *m = &s->blocks;
    const int b = m->b;
    const int64_t lower = m->side[0].begin[0][m->n];
    snprintf(s->name + strlen(s->name), sizeof s->name - strlen(s->name), ", blocks of %d", b);
    lu->f.L.n = lu->f.U.n = A->n;
    lu->f.L.dtype = lu->f.U.dtype = A->dtype;
    trs_lu_set_info(lu, seconds);
    lu->info.block = b;
    lu->info.nnz_l = lower * b * b + A->n; /* with the ones of its diagonal */
    lu->info.nnz_u = (m->count - lower) * b * b;
    if (m->cholesky) lu->info.nnz_l = lu->info.nnz_u, lu->info.nnz_u = 0;
}

/* By blocks if A has any, else by numbers. */
static int factor_on_host(trs_context *ctx, trs_lu *lu, const trs_mat *A,
                          const trs_ilu_options *opt)
{
    ilu *s = lu->backend;
    const double start = trs_now();
    int b, rc = choose_block(ctx, s, A, opt, &b);
    if (!rc && !b) return factor_here(lu, A);
    if (!rc) rc = make_blocks(ctx, lu, A, opt->method, b);
    trs_tri_free(ctx, &s->rows.t);
    if (rc) return rc;
    lu->blocks = &s->blocks;
    show_blocks(lu, A, trs_now() - start);
    return update(lu, A);
}

/* On the device, by blocks of the rows, which the host has; *made: they are made.  A: its values may be there. */
static int factor_blocks_there(trs_context *ctx, trs_lu *lu, const trs_mat *A,
                               const trs_ilu_options *opt, const trs_mat *host, bool *made)
{
    ilu *s = lu->backend;
    const double start = trs_now();
    int b, rc = choose_block(ctx, s, host, opt, &b);
    if (rc || !b) return rc;
    rc = make_blocks(ctx, lu, A, opt->method, b);
    if (rc) return rc;
    show_blocks(lu, A, trs_now() - start);
    rc = trs_lu_blocks_make(lu, A, &s->blocks, !opt->defer, made);
    if (*made || rc) return rc;
    trs_ilu_blocks_free(&lu->mem, &s->blocks);
    s->blocks.b = 0;
    lu->info.block = 0;
    name_factors(s, opt->method);
    if (!is_diagonal(opt->method)) return TRS_OK;
    return trs_fail(TRS_ESUPPORT, "the device has no kernel for so many products of blocks");
}

/* Are factors on a device to be by blocks?  In the entries of a matrix they are only searched for on the host. */
static bool wants_blocks(const trs_mat *A, const trs_ilu_options *opt)
{
    if (is_diagonal(opt->method) || !may_have_blocks(opt)) return is_diagonal(opt->method);
    if (opt->block) return opt->block > 1;
    return A->format == TRS_BSR && A->block > 1 && A->block <= TRS_BLOCK_MOST;
}

/* Factor A on the device, unless *made becomes false.  t: the rows, on the host; NULL: the pattern is that of A. */
static int factor_there(trs_lu *lu, const trs_mat *A, const trs_tri *t, const trs_ilu_options *opt,
                        bool *made)
{
    trs_lu_task task = {.A = A, .pattern = A, .dtype = A->dtype, .limit = INFINITY};
    trs_mat rows;
    if (t) {
        rows = (trs_mat){.n = t->n, .nnz = t->nnz, .ptr = t->ptr, .idx = t->idx};
        task.pattern = &rows;
        task.src = t->src;
    }
    task.cholesky = is_cholesky(opt->method);
    task.shift = opt->shift;
    task.boost = opt->boost;
    task.waits = !opt->defer;
    const int rc = trs_step("factorization", -1);
    return rc ? rc : trs_lu_device_make(lu, &task, made);
}

/* Are the values of A on the host, or on the device of the factors? */
static bool is_near(const trs_lu *lu, const trs_mat *A)
{
    return A->device <= 0 || A->device == lu->opt.device;
}

/* Are the entries of the factors those of A, at their places?  Then the device needs no rows of the host. */
static bool has_rows(const trs_lu *lu, const ilu *s, const trs_mat *A)
{
    return A->format != TRS_DENSE && s->level == 0 && !s->drops && s->ordering == TRS_ILU_NATURAL &&
           is_near(lu, A);
}

/* Factor the rows, which were made of A on the host, there or on the device; they belong to the lu, or are freed. */
static int factor_rows(trs_context *ctx, trs_lu *lu, const trs_mat *A, const trs_mat *host,
                       const trs_ilu_options *opt)
{
    ilu *s = lu->backend;
    const trs_mat *near = is_near(lu, A) ? A : host;
    const bool by_blocks = wants_blocks(A, opt), tried = has_rows(lu, s, A) && !by_blocks;
    bool made = false;
    int rc = TRS_OK;
    if (lu->opt.device <= 0) return factor_on_host(ctx, lu, host, opt);
    if (by_blocks) rc = factor_blocks_there(ctx, lu, near, opt, host, &made);
    if (!rc && !made && !tried) rc = factor_there(lu, near, &s->rows.t, opt, &made);
    if (!rc && !made) return factor_here(lu, host);
    trs_tri_free(ctx, &s->rows.t);
    return rc;
}

static int factor(trs_lu *lu, const trs_mat *A, const trs_ilu_options *opt)
{
    ilu *s = lu->backend;
    trs_context ctx = {.mem = lu->mem, .base = lu->base, .threads = count_threads(lu)};
    trs_mat host;
    bool made = false;
    int rc = TRS_OK;
    if (lu->opt.device > 0 && has_rows(lu, s, A) && !wants_blocks(A, opt))
        rc = factor_there(lu, A, NULL, opt, &made);
    if (rc || made) return rc;
    ctx.device = A->device > 0 ? A->device - 1 : 0;
    rc = trs_mat_fetch(&ctx, A, true, &host);
    if (!rc) rc = make_rows(&ctx, lu, s, &host, &s->rows.t);
    if (rc) trs_tri_free(&ctx, &s->rows.t);
    else rc = factor_rows(&ctx, lu, A, &host, opt);
    trs_mat_fetched(&ctx, A, &host);
    trs_gpu_drop_ring(&ctx);
    return rc;
}

static int check_block(const trs_ilu_options *opt)
{
    const trs_options *plan = &opt->plan;
    const bool diagonal = is_diagonal(opt->method);
    if (opt->block < 0 || opt->block > TRS_BLOCK_MOST)
        return trs_fail(TRS_EARG, "block must be in 0 .. %d", TRS_BLOCK_MOST);
    if (opt->block > 1 && !may_have_blocks(opt))
        return trs_fail(TRS_EARG,
                        "block is of TRS_DILU, TRS_BLOCK_JACOBI, and of TRS_ILU0 and TRS_IC0 "
                        "without fill, ordering, solver, sweeps and other pivots");
    if (!diagonal) return TRS_OK;
    if (opt->level || opt->ordering || plan->solver || plan->sweeps || plan->pivot)
        return trs_fail(TRS_EARG, "TRS_DILU and TRS_BLOCK_JACOBI take neither level, ordering, "
                                  "solver, sweeps nor pivot");
    return TRS_OK;
}

static int check_options(const trs_ilu_options *opt)
{
    if ((unsigned)opt->method > TRS_BLOCK_JACOBI)
        return trs_fail(TRS_EARG, "unknown method %d", (int)opt->method);
    if (!(opt->shift >= 0) || !isfinite(opt->shift) || !(opt->boost >= 0) || !(opt->boost <= 1))
        return trs_fail(TRS_EARG, "shift must be at least 0, and boost in 0 .. 1");
    if (opt->level < 0) return trs_fail(TRS_EARG, "level = %d is negative", opt->level);
    if (!(opt->drop_tol >= 0) || !isfinite(opt->drop_tol))
        return trs_fail(TRS_EARG, "drop_tol must be at least 0");
    if (drops(opt->method) ? opt->level > 0 : opt->drop_tol > 0)
        return trs_fail(TRS_EARG, "drop_tol is of TRS_ILUT and TRS_ICT, level of the others");
    if (!(opt->fill_factor == 0 || opt->fill_factor >= 1))
        return trs_fail(TRS_EARG, "fill_factor must be 0, or at least 1");
    if ((unsigned)opt->ordering > TRS_ILU_MULTICOLOUR)
        return trs_fail(TRS_EARG, "unknown ordering %d", (int)opt->ordering);
    return check_block(opt);
}

/* Usual number of applications of a preconditioner before the next one is made. */
enum { APPLICATIONS = 50 };

/* Factor A, all of which is given, and store its shape. */
static int factor_whole(trs_lu *lu, const trs_mat *A, const trs_ilu_options *opt)
{
    ilu *s = lu->backend;
    s->shape = trs_lu_shape(A);
    lu->info.nnz_a = A->format == TRS_DENSE ? A->n * A->n : trs_value_count(A);
    return factor(lu, A, opt);
}

static int ilu_of(trs_lu **lu, const trs_mat *mat, const trs_ilu_options *opt)
{
    static const trs_ilu_options defaults = {0};
    trs_mat m = {0}, *A = mat ? &m : NULL, whole;
    if (!opt) opt = &defaults;
    if (mat) m = *mat;
    /* a lower triangle cannot be the whole matrix of L L^H */
    if (is_cholesky(opt->method) && m.kind == TRS_LOWER) m.kind |= TRS_SELFADJOINT;
    int rc = trs_lu_new(lu, A, &opt->plan, APPLICATIONS);
    if (!rc) rc = TRS_CHECK_RESERVED(opt, "trs_ilu_options");
    if (!rc) rc = check_options(opt);
    if (rc) return rc;
    ilu *s = trs_alloc_zero(&(*lu)->mem, 1, sizeof *s);
    if (!s) return trs_fail(TRS_EMEM, "out of memory for a handle");
    (*lu)->backend = s;
    (*lu)->release = release;
    (*lu)->update = update;
    (*lu)->dtype = A->dtype;
    (*lu)->opt.layout = opt->plan.layout;
    (*lu)->opt.ops |= 1u << TRS_N; /* whose levels are those of the factorisation */
    s->rows.cholesky = is_cholesky(opt->method);
    s->rows.shift = (*lu)->shift = opt->shift;
    s->rows.boost = (*lu)->boost = opt->boost;
    s->level = opt->level;
    s->drops = drops(opt->method);
    s->drop_tol = opt->drop_tol;
    s->fill_factor = opt->fill_factor;
    s->ordering = opt->ordering;
    name_factors(s, opt->method);
    (*lu)->lower_only = s->rows.cholesky && s->ordering == TRS_ILU_NATURAL;
    (*lu)->f = (trs_factors){.cholesky = s->rows.cholesky, .incomplete = true, .library = s->name};
    (*lu)->f.ordering = trs_order_name(s->ordering);
    rc = check(*lu, s, A);
    if (!rc) rc = trs_lu_whole(*lu, A, true, NULL, &whole);
    if (!rc) rc = factor_whole(*lu, &whole, opt);
    return rc;
}

int trs_ilu(trs_lu **lu, const trs_mat *A, const trs_ilu_options *opt)
{
    return trs_call(ilu_of(lu, A, opt));
}
