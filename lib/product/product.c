/* product.c: trs_multiply, by threads.
 *
 * A thread has consecutive lines of A, with as many entries as another.  If the sums go along the lines, it writes the y of
 * its lines.  Otherwise threads would add to the same y.  So each but the first adds to an array of its own, and these are
 * added up afterwards, in the order of the lines: the same number of threads gives the same bits. */
#include "config.h"

#include "product.h"
#include "accuracy/residual.h"
#include "base/parallel.h"

#include <stdatomic.h>
#include <string.h>

enum { ROWS = 4096 }; /* of y that a thread sets, or adds up, at a time */

typedef struct product {
    trs_product of;
    /* of the columns that are computed now */
    int columns;
    trs_view x, y;
    /* ranges of lines, each of which one thread takes */
    int parts;
    /* [parts - 1] arrays [n * columns], which are added to y */
    char *own;
    atomic_bool bad;
} product;

/* The first line of a part.  Before it are its share of the entries, and of the lines, which also take time.  Pointers that
 * are out of order give any lines. */
static int64_t part_begin(const product *p, int part)
{
    const trs_mat *A = p->of.A;
    const int bits = A->ptr_bits ? A->ptr_bits : 64;
    const int64_t count = trs_major_count(A), block = A->format == TRS_BSR ? A->block : 1;
    if (A->format == TRS_DENSE || part == 0 || part == p->parts) return A->n * part / p->parts;
    const uint64_t goal = (uint64_t)((A->nnz + count) / p->parts * part);
    int64_t low = 0, high = count;
    while (low < high) {
        const int64_t l = low + (high - low) / 2;
        if ((uint64_t)trs_index(A->ptr, bits, l) - (uint64_t)A->base + (uint64_t)l < goal)
            low = l + 1;
        else high = l;
    }
    return low * block;
}

/* Where a part sums. */
static trs_view sums_of(const product *p, int part)
{
    const int64_t n = p->of.A->n, numbers = n * p->columns;
    if (part == 0 || !p->of.across) return p->y;
    char *own = p->own + (part - 1) * numbers * (int64_t)trs_size(p->of.A->dtype);
    if (p->y.cs == 1) return (trs_view){own, p->columns, 1};
    return (trs_view){own, 1, n};
}

static void do_parts(void *user, int thread, int team)
{
    product *p = user;
    const trs_mat *A = p->of.A;
    for (int k = thread; k < p->parts; k += team) {
        const int64_t begin = part_begin(p, k), end = part_begin(p, k + 1);
        const trs_view y = sums_of(p, k);
        if (p->of.across && k > 0) memset(y.p, 0, (size_t)(A->n * p->columns) * trs_size(A->dtype));
        if (begin > end || !trs_product_lines(&p->of, begin, end, p->columns, p->x, y))
            atomic_store(&p->bad, true);
    }
}

static void start(void *user, int64_t begin, int64_t end)
{
    const product *p = user;
    trs_product_start(&p->of, begin, end, p->columns, p->x, p->y);
}

static void add_parts(void *user, int64_t begin, int64_t end)
{
    const product *p = user;
    for (int k = 1; k < p->parts; k++)
        trs_product_add(p->of.A->dtype, begin, end, p->columns, sums_of(p, k), p->y);
}

/* Y = op(A) X for some columns. */
static int some_columns(product *p)
{
    const int64_t n = p->of.A->n;
    if (p->of.across) trs_share(p->parts, n, ROWS, start, p);
    if (p->parts > 1) trs_team_run(p->parts, do_parts, p);
    else do_parts(p, 0, 1);
    if (atomic_load(&p->bad)) return TRS_EMATRIX;
    if (p->of.across && p->parts > 1) trs_share(p->parts, n, ROWS, add_parts, p);
    return TRS_OK;
}

/* Take as many parts as there is work for.  The arrays that are added to y take no more memory than A; returns their bytes. */
static int64_t choose_parts(product *p, int threads, int nrhs)
{
    const trs_mat *A = p->of.A;
    const trs_context ctx = {.threads = threads > 0 ? threads : trs_default_threads()};
    const int64_t entries = A->format == TRS_DENSE ? A->n * A->n : trs_value_count(A);
    p->parts = trs_team(&ctx, entries * nrhs);
    if (!p->of.across) return 0;
    p->parts = (int)trs_min(p->parts, 1 + entries / A->n / p->columns);
    return (p->parts - 1) * A->n * p->columns * (int64_t)trs_size(A->dtype);
}

static trs_view from_column(trs_view v, int64_t r, trs_dtype t)
{
    v.p = (char *)v.p + r * v.cs * (int64_t)trs_size(t);
    return v;
}

static trs_product product_of(const trs_mat *A, trs_op op)
{
    const bool half = A->kind & TRS_SELFADJOINT, by_rows = trs_by_rows(A), conj = op == TRS_H;
    trs_product s = {.A = A};
    s.along = half || by_rows == (op == TRS_N);
    s.across = half || !s.along;
    s.conj_along = s.conj_across = conj;
    if (half) { /* A = A^H, and A^T = conj (A); the line is a row of A, or a conjugated one */
        s.conj_along = by_rows == (op == TRS_T);
        s.conj_across = !s.conj_along;
    }
    if (A->kind & (TRS_LOWER | TRS_UPPER)) {
        s.head = by_rows == ((A->kind & TRS_LOWER) != 0);
        s.tail = !s.head;
    }
    return s;
}

int64_t trs_multiply_bytes(const trs_mat *A, trs_op op, int nrhs, int threads)
{
    product p = {.of = product_of(A, op), .columns = trs_product_columns(A, nrhs)};
    return choose_parts(&p, threads, nrhs);
}

int trs_multiply_here(const trs_mat *A, trs_op op, int nrhs, trs_view x, trs_view y, int threads,
                      void *own)
{
    product p = {.of = product_of(A, op), .columns = trs_product_columns(A, nrhs)};
    int rc = TRS_OK;
    const int64_t bytes = choose_parts(&p, threads, nrhs);
    p.own = own;
    if (bytes && !own) p.own = trs_alloc(NULL, bytes, 1);
    if (bytes && !p.own) p.parts = 1;
    for (int r = 0; r < nrhs && !rc; r += p.columns) {
        p.columns = trs_product_columns(A, nrhs - r);
        p.x = from_column(x, r, A->dtype);
        p.y = from_column(y, r, A->dtype);
        rc = some_columns(&p);
    }
    if (!own) trs_free(NULL, p.own);
    if (!rc) return TRS_OK;
    rc = trs_check_mat(A); /* for the sentence */
    return rc ? rc : trs_fail(TRS_EMATRIX, "the matrix changed during a product");
}

/* Is A well-formed?  The loops look at all pointers but the first, and at the indices, unless TRS_STRICT wants more. */
static int check(const trs_mat *A)
{
    if (!A) return trs_fail(TRS_EARG, "A is NULL");
    int rc = trs_check_device(A->device);
    if (rc) return rc;
    if (A->device > 0) return trs_check_values(A);
    rc = trs_check_arrays(A);
    if (rc) return rc;
    const int bits = A->ptr_bits ? A->ptr_bits : 64;
    const bool begins = A->format == TRS_DENSE || trs_index(A->ptr, bits, 0) == A->base;
    return begins && A->n && !(A->kind & TRS_STRICT) ? TRS_OK : trs_check_mat(A);
}

int trs_multiply_on(const trs_mat *A, trs_op op, int nrhs, const void *X, int64_t ldx, void *Y,
                    int64_t ldy, const trs_exec *exec)
{
    static const trs_exec defaults = {0};
    trs_enter();
    if (!exec) exec = &defaults;
    const trs_layout layout = exec->layout;
    int rc = TRS_CHECK_RESERVED(exec, "trs_exec");
    if (!rc && (exec->threads < 0 || exec->threads > TRS_MOST_THREADS))
        rc = trs_fail(TRS_EARG, "a product by %d threads", exec->threads);
    if (!rc) rc = check(A);
    if (!rc) rc = trs_check_columns(A, op, nrhs, X, ldx, Y, ldy, layout, true);
    if (rc || !nrhs || !A->n) return trs_leave(rc);
    const trs_view x = trs_view_of(X, ldx, layout), y = trs_view_of(Y, ldy, layout);
    if (A->device > 0) rc = trs_multiply_there(A, op, nrhs, x, y, exec->stream);
    else rc = trs_multiply_here(A, op, nrhs, x, y, exec->threads, NULL);
    return trs_leave(rc);
}

int trs_multiply(const trs_mat *A, trs_op op, int nrhs, const void *X, int64_t ldx, void *Y,
                 int64_t ldy, trs_layout layout)
{
    const trs_exec exec = {.layout = layout};
    return trs_multiply_on(A, op, nrhs, X, ldx, Y, ldy, &exec);
}
