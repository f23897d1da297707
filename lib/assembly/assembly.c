/* assembly.c: sums terms a(k) at (row(k), col(k)), given in any order, into a sparse matrix, again and again.
 *
 *     terms --sort by (line, index), stably--> order | start --> for each entry q, once a time:
 *                                                               val(q) = sum of a(order(p)), start(q) <= p < start(q+1)
 *
 * A line is a row of CSR, a column of CSC.  Two passes of a counting sort, by the index and then by the line, take
 * O(n + count).  An entry is summed by one thread in the order of its terms, so that its bits do not depend on the number of
 * threads.  Source: Gustavson, Two fast algorithms for sparse matrices, ACM TOMS 4 (1978) 250-269; PETSc's
 * MatSetPreallocationCOO, for the interface. */
#ifndef T

#include "config.h"

#include "base/debug.h"
#include "base/device.h"
#include "base/parallel.h"
#include "matrix/on_device.h"

#include <complex.h>
#include <inttypes.h>
#include <string.h>

enum { BLOCK = 1 << 14 }; /* entries that a thread takes at a time */

struct trs_assembly {
    trs_context ctx;
    int64_t kept;   /* terms that are not left out */
    trs_mat mat;    /* in arrays of the assembly, where device says */
    int64_t *order; /* [kept] the terms, entry by entry */
    int64_t *start; /* [nnz+1] where those of each entry begin; both where the matrix is */
};

/* ---- sums ----------------------------------------------------------------------------------- */

typedef struct summing {
    const trs_assembly *a;
    const void *term;
} summing;

#define TRS_BODY "assembly/assembly.c"
#include "base/each_type.h"

static int sum_there(trs_assembly *a, const void *val, void *stream)
{
    void *to = (void *)a->mat.val;
    const int rc = trs_gpu_use(&a->ctx);
    if (rc) return rc;
    return trs_gpu_sum_terms(a->mat.dtype, a->mat.nnz, a->start, a->order, val, to, stream);
}

static int sum_here(const trs_assembly *a, const void *val, int threads)
{
    static const trs_range_fn add[] = TRS_PER_TYPE(add);
    trs_context ctx = a->ctx;
    summing s = {a, val};
    if (threads > 0) ctx.threads = threads;
    trs_share(trs_team(&ctx, a->kept), a->mat.nnz, BLOCK, add[a->mat.dtype], &s);
    return TRS_OK;
}

static int sum(trs_assembly *a, const void *val, const trs_exec *exec)
{
    static const trs_exec defaults = {0};
    int rc = TRS_CHECK_RESERVED(exec, "trs_exec");
    if (rc) return rc;
    if (!exec) exec = &defaults;
    if (!a || (!val && a->kept > 0))
        return trs_fail(TRS_EARG, "assembly: the assembly or val is NULL");
    rc = trs_check_threads("assembly", exec->threads);
    if (rc) return rc;
    if (a->mat.device > 0) return sum_there(a, val, exec->stream);
    return sum_here(a, val, exec->threads);
}

int trs_assembly_sum(trs_assembly *a, const void *val, const trs_exec *exec)
{
    trs_enter();
    return trs_leave(sum(a, val, exec));
}

/* ---- places --------------------------------------------------------------------------------- */

typedef struct places { /* of the terms */
    int64_t count, n, base;
    const void *line, *index;
    int bits;
} places;

static int64_t line_of(const places *p, int64_t k)
{
    return trs_index(p->line, p->bits, k) - p->base;
}

static int64_t index_of(const places *p, int64_t k)
{
    return trs_index(p->index, p->bits, k) - p->base;
}

/* Is term k left out? */
static bool is_out(const places *p, int64_t k)
{
    return trs_index(p->line, p->bits, k) < 0 || trs_index(p->index, p->bits, k) < 0;
}

static int check_places(const places *p, const trs_terms *terms)
{
    for (int64_t k = 0; k < p->count; k++) {
        const int64_t row = trs_index(terms->row, p->bits, k),
                      col = trs_index(terms->col, p->bits, k);
        if (is_out(p, k)) continue;
        if (row < p->base || row >= p->n + p->base || col < p->base || col >= p->n + p->base)
            return trs_fail(TRS_EMATRIX,
                            "term %" PRId64 ": row %" PRId64 ", column %" PRId64
                            " is not in a matrix of %" PRId64 " rows from %" PRId64,
                            k, row, col, p->n, p->base);
    }
    return TRS_OK;
}

/* to = the terms of `from`, or all terms that are not left out if it is NULL, sorted stably by the number that `by` returns.
 * ptr [n+1] becomes where the terms with each number begin. */
static void sort(const places *p, int64_t (*by)(const places *, int64_t), const int64_t *from,
                 int64_t count, int64_t *ptr, int64_t *to)
{
    memset(ptr, 0, ((size_t)p->n + 1) * sizeof *ptr);
    for (int64_t q = 0; q < count; q++)
        if (from || !is_out(p, q)) ptr[by(p, from ? from[q] : q) + 1]++;
    for (int64_t l = 0; l < p->n; l++) ptr[l + 1] += ptr[l];
    for (int64_t q = 0; q < count; q++)
        if (from || !is_out(p, q)) {
            const int64_t k = from ? from[q] : q;
            to[ptr[by(p, k)]++] = k;
        }
    TRS_ASSERT(p->n == 0 || ptr[p->n - 1] == ptr[p->n]);
    memmove(ptr + 1, ptr, (size_t)p->n * sizeof *ptr); /* each had arrived at its end */
    ptr[0] = 0;
}

/* Merge the terms of each place.  begins [q] becomes the first term of entry q, and index [q] its index; ptr, which counts
 * terms, becomes one that counts entries.  Returns the number of entries. */
static int64_t merge(const places *p, const int64_t *order, int64_t *ptr, int64_t *begins,
                     int32_t *index)
{
    int64_t nnz = 0;
    for (int64_t l = 0; l < p->n; l++) {
        const int64_t begin = ptr[l], end = ptr[l + 1];
        ptr[l] = nnz;
        for (int64_t q = begin; q < end; q++) {
            const int64_t i = index_of(p, order[q]);
            if (q > begin && index[nnz - 1] == (int32_t)(i + p->base)) continue;
            TRS_ASSERT(nnz <= q && i >= 0 && i < p->n);
            index[nnz] = (int32_t)(i + p->base);
            begins[nnz++] = q;
        }
    }
    begins[nnz] = p->n > 0 ? ptr[p->n] : 0;
    ptr[p->n] = nnz;
    return nnz;
}

/* ---- create and destroy --------------------------------------------------------------------- */

typedef struct arrays { /* on the host, before it is known how many entries there are */
    int64_t *ptr, *order, *start;
    int32_t *index;
    void *val;
} arrays;

static void arrays_free(trs_context *ctx, arrays *h)
{
    trs_free(&ctx->mem, h->ptr);
    trs_free(&ctx->mem, h->order);
    trs_free(&ctx->mem, h->start);
    trs_free(&ctx->mem, h->index);
    trs_free(&ctx->mem, h->val);
}

/* Find the entries, in arrays that are long enough for one entry a term. */
static int find_entries(trs_assembly *a, const places *p, arrays *h)
{
    trs_context *ctx = &a->ctx;
    for (int64_t k = 0; k < p->count; k++) a->kept += !is_out(p, k);
    h->ptr = trs_new(ctx, p->n + 1, sizeof *h->ptr, "row pointers");
    h->order = trs_new(ctx, a->kept, sizeof *h->order, "the order of the terms");
    h->start = trs_new(ctx, a->kept + 1, sizeof *h->start, "the terms of each entry");
    h->index = trs_new(ctx, a->kept, sizeof *h->index, "columns");
    if (!h->ptr || !h->order || !h->start || !h->index) return TRS_EMEM;
    sort(p, index_of, NULL, p->count, h->ptr, h->start);
    sort(p, line_of, h->start, a->kept, h->ptr, h->order);
    a->mat.nnz = merge(p, h->order, h->ptr, h->start, h->index);
    for (int64_t l = 0; l <= p->n; l++) h->ptr[l] += p->base;
    return TRS_OK;
}

/* A new array with the first count elements of p; p is freed. */
static void *cut(trs_context *ctx, void *p, int64_t count, size_t size)
{
    void *to = trs_new(ctx, count, size, "the entries of a matrix");
    if (to) memcpy(to, p, (size_t)count * size);
    trs_free(&ctx->mem, p);
    return to;
}

/* Move what was found to the assembly. */
static int move_here(trs_assembly *a, arrays *h)
{
    trs_context *ctx = &a->ctx;
    const int64_t nnz = a->mat.nnz;
    h->start = cut(ctx, h->start, nnz + 1, sizeof *h->start);
    h->index = cut(ctx, h->index, nnz, sizeof *h->index);
    h->val = trs_alloc_zero(&ctx->mem, nnz, trs_size(a->mat.dtype));
    if (!h->start || !h->index || !h->val)
        return trs_fail(TRS_EMEM, "out of memory for the entries of a matrix");
    a->order = h->order, a->start = h->start;
    a->mat.ptr = h->ptr, a->mat.idx = h->index, a->mat.val = h->val;
    memset(h, 0, sizeof *h);
    return TRS_OK;
}

/* Copy an array to the device. */
static void *send(trs_context *ctx, const void *from, int64_t count, size_t size)
{
    void *to = trs_gpu_new(ctx, count, size, "an assembly");
    if (!to || !trs_gpu_put(ctx, to, from, (size_t)count * size)) return to;
    trs_gpu_free(ctx, to);
    return NULL;
}

/* The same, to the device. */
static int move_there(trs_assembly *a, arrays *h)
{
    trs_context *ctx = &a->ctx;
    trs_mat *m = &a->mat;
    const size_t size = trs_size(m->dtype);
    int rc = trs_gpu_use(ctx);
    h->val = trs_alloc_zero(&ctx->mem, m->nnz, size);
    if (!rc && !h->val) rc = trs_fail(TRS_EMEM, "out of memory for the entries of a matrix");
    if (rc) return rc;
    a->order = send(ctx, h->order, a->kept, sizeof *h->order);
    a->start = send(ctx, h->start, m->nnz + 1, sizeof *h->start);
    m->ptr = send(ctx, h->ptr, m->n + 1, sizeof *h->ptr);
    m->idx = send(ctx, h->index, m->nnz, sizeof *h->index);
    m->val = send(ctx, h->val, m->nnz, size);
    trs_gpu_drop_ring(ctx);
    return a->order && a->start && m->ptr && m->idx && m->val ? TRS_OK : TRS_EMEM;
}

static int check_form(const trs_terms *terms)
{
    if (terms->idx_bits != 0 && terms->idx_bits != 32 && terms->idx_bits != 64)
        return trs_fail(TRS_EARG, "idx_bits = %d is not 32 or 64", terms->idx_bits);
    if (terms->base != 0 && terms->base != 1)
        return trs_fail(TRS_EARG, "base %d is not 0 or 1", terms->base);
    if ((unsigned)terms->dtype > TRS_C32 || (terms->format != TRS_CSR && terms->format != TRS_CSC))
        return trs_fail(TRS_EARG, "unknown dtype, or a format other than CSR and CSC");
    return TRS_OK;
}

static int check(const trs_terms *terms)
{
    int rc = TRS_CHECK_RESERVED(terms, "trs_terms");
    if (rc) return rc;
    if (terms->n < 0 || terms->n > INT32_MAX - 1)
        return trs_fail(TRS_EARG, "n = %" PRId64 " is not in 0 .. 2^31 - 2", terms->n);
    if (terms->count < 0 || (terms->count > 0 && (!terms->row || !terms->col)))
        return trs_fail(TRS_EARG, "count = %" PRId64 " is negative, or row or col is NULL",
                        terms->count);
    rc = check_form(terms);
    if (rc) return rc;
    if (!terms->memory.alloc != !terms->memory.free ||
        !terms->device_memory.alloc != !terms->device_memory.free)
        return trs_fail(TRS_EARG, "one of memory's callbacks alloc and free is NULL");
    return trs_check_device(terms->device);
}

static int fill(trs_assembly *a, const trs_terms *terms)
{
    places p = {.count = terms->count, .n = terms->n, .base = terms->base};
    arrays h = {0};
    p.bits = terms->idx_bits ? terms->idx_bits : 32;
    p.line = terms->row, p.index = terms->col;
    if (terms->format == TRS_CSC) p.line = terms->col, p.index = terms->row;
    a->ctx = (trs_context){.mem = terms->memory, .device_memory = terms->device_memory};
    a->ctx.threads = trs_default_threads();
    a->ctx.device = terms->device > 0 ? terms->device - 1 : 0;
    a->mat = (trs_mat){.n = terms->n, .ptr_bits = 64, .idx_bits = 32, .base = terms->base};
    a->mat.dtype = terms->dtype;
    a->mat.format = terms->format;
    a->mat.device = terms->device > 0 ? terms->device : TRS_HOST;
    int rc = check_places(&p, terms);
    if (!rc) rc = find_entries(a, &p, &h);
    if (!rc && terms->device > 0) rc = move_there(a, &h);
    else if (!rc) rc = move_here(a, &h);
    arrays_free(&a->ctx, &h);
    return rc;
}

static int create(trs_assembly **assembly, const trs_terms *terms)
{
    if (!assembly) return trs_fail(TRS_EARG, "assembly is NULL");
    *assembly = NULL;
    if (!terms) return trs_fail(TRS_EARG, "terms is NULL");
    int rc = check(terms);
    if (rc) return rc;
    trs_assembly *a = trs_alloc_zero(&terms->memory, 1, sizeof *a);
    if (!a) return trs_fail(TRS_EMEM, "out of memory for a handle");
    rc = fill(a, terms);
    if (rc) trs_assembly_destroy(a);
    else *assembly = a;
    return rc;
}

int trs_assembly_create(trs_assembly **assembly, const trs_terms *terms)
{
    trs_enter();
    return trs_leave(create(assembly, terms));
}

void trs_assembly_destroy(trs_assembly *a)
{
    if (!a) return;
    trs_enter();
    void *const all[] = {(void *)a->mat.ptr, (void *)a->mat.idx, (void *)a->mat.val, a->order,
                         a->start};
    for (size_t k = 0; k < sizeof all / sizeof all[0]; k++)
        if (a->mat.device > 0) trs_gpu_free(&a->ctx, all[k]);
        else trs_free(&a->ctx.mem, all[k]);
    const trs_memory mem = a->ctx.mem;
    trs_free(&mem, a);
    trs_leave_silently();
}

int trs_assembly_mat(const trs_assembly *a, unsigned kind, trs_mat *mat)
{
    trs_enter();
    if (!a || !mat) return trs_leave(trs_fail(TRS_EARG, "assembly or mat is NULL"));
    *mat = a->mat;
    mat->kind = kind;
    return trs_leave(TRS_OK);
}

#else

/* Entries begin .. end-1 of the matrix. */
static void FN(add)(void *user, int64_t begin, int64_t end)
{
    const summing *s = user;
    const int64_t *order = s->a->order, *start = s->a->start;
    const T *term = s->term;
    T *val = (T *)s->a->mat.val;
    for (int64_t q = begin; q < end; q++) {
        T sum = term[order[start[q]]];
        for (int64_t p = start[q] + 1; p < start[q + 1]; p++) sum += term[order[p]];
        val[q] = sum;
    }
}

#endif
