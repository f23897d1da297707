/* lines.cu: the rows of op(A) when they run across the stored lines of A.
 *
 * The entries, or blocks, are sorted by the line across, stably, so that those of a line ascend by their place in A
 * and are summed in the order of A.  A thread has an entry, or a line.
 *
 *     key (p) = idx (p), place (p) = p --stable radix sort of (key, place)--> the keys ascend
 *     ptr (l) = how many keys are smaller than l           by bisection
 *     idx (q) = the line of A that has entry place (q)     by bisection
 *
 * Bytes: some 100 an entry for the sort. */
#include "config.h"

#include "rows.cuh"
#include "cuda/matrix/source.cuh"
#include "cuda/runtime/sort.cuh"

#include <cinttypes>

bool trs_lines_across(const trs_mat *A, trs_op op)
{
    return A->format != TRS_DENSE && trs_by_rows(A) != (op == TRS_N);
}

/* The first k in begin..end-1 for which `holds`, which stays true once it is; end: none. */
template <class F> static __device__ inline int64_t first_that(int64_t begin, int64_t end, F holds)
{
    while (begin < end) {
        const int64_t middle = begin + (end - begin) / 2;
        if (holds(middle)) end = middle;
        else begin = middle + 1;
    }
    return begin;
}

struct sorting {
    int32_t *key[2];
    int64_t *place[2];
    sort_temp temp;
};

static __global__ void key_kernel(const source A, int32_t *key, int64_t *place)
{
    const int64_t p = index_of_thread();
    if (p >= A.blocks) return;
    key[p] = (int32_t)A.index(p);
    place[p] = p;
}

static __global__ void pointer_kernel(const source A, const int32_t *key, int64_t *ptr)
{
    const int64_t l = index_of_thread();
    if (l <= A.majors) ptr[l] = first_that(0, A.blocks, [=](int64_t q) { return key[q] >= l; });
}

static __global__ void index_kernel(const source A, const int64_t *place, int32_t *idx)
{
    const int64_t q = index_of_thread();
    if (q >= A.blocks) return;
    idx[q] = (int32_t)last_up_to(A.majors, place[q], [=](int64_t l) { return A.said(l); });
}

static int sort(sorting &s, int64_t nnz, int bits, cudaStream_t stream)
{
    return sort_pairs(s.temp, s.key[0], s.key[1], s.place[0], s.place[1], nnz, bits, stream);
}

/* Fills the arrays of l, whose memory is there; idx takes the place of the first keys. */
static int fill(trs_lines *l, sorting &s, int bits, cudaStream_t stream)
{
    const source A = source_of(&l->A);
    if (A.blocks == 0)
        return cuda_status(
            cudaMemsetAsync(l->ptr, 0, ((size_t)A.majors + 1) * sizeof *l->ptr, stream),
            "no entries");
    TRS_ASSERT(s.temp.p && l->idx == s.key[0] && l->place == s.place[1]);
    key_kernel<<<blocks_of(A.blocks), PLAIN, 0, stream>>>(A, s.key[0], s.place[0]);
    const int rc = sort(s, A.blocks, bits, stream);
    if (rc) return rc;
    pointer_kernel<<<blocks_of(A.majors + 1ll), PLAIN, 0, stream>>>(A, s.key[1], l->ptr);
    index_kernel<<<blocks_of(A.blocks), PLAIN, 0, stream>>>(A, s.place[1], l->idx);
    return launched();
}

static int bits_of_index(int64_t lines)
{
    int bits = 1;
    while (bits < 31 && (int64_t)1 << bits < lines) bits++;
    return bits;
}

static int find_lines(trs_context *ctx, trs_lines *l, cudaStream_t stream)
{
    const int64_t nnz = l->A.nnz, lines = trs_major_count(&l->A);
    const int bits = bits_of_index(lines);
    sorting s = {};
    const int rc = sort(s, nnz, bits, stream);
    if (rc) return rc;
    l->memory = carve_new(ctx, "the rows of a transpose", [&](carver &carve) {
        carve(l->ptr, lines + 1);
        for (int k = 0; k < 2; k++) carve(s.key[k], nnz);
        for (int k = 0; k < 2; k++) carve(s.place[k], nnz);
        carve(s.temp.p, (int64_t)s.temp.bytes);
        l->idx = s.key[0];
        l->place = s.place[1];
    });
    return l->memory ? fill(l, s, bits, stream) : TRS_EMEM;
}

int trs_lines_make(trs_context *ctx, const trs_mat *A, trs_op op, void *stream, trs_lines *l)
{
    *l = {.A = *A, .op = op, .across = trs_lines_across(A, op)};
    int rc = trs_gpu_use(ctx);
    if (rc || !l->across || A->n == 0) return rc;
    rc = find_lines(ctx, l, static_cast<cudaStream_t>(stream));
    if (rc) trs_lines_free(ctx, l);
    return rc;
}

void trs_lines_free(trs_context *ctx, trs_lines *l)
{
    trs_gpu_free(ctx, l->memory);
    l->memory = NULL;
}

/* ---- are the arrays in range? --------------------------------------------------------------------------------- */

/* wrong [2]: the first line whose pointers are not in order, and the first entry whose index is out of range. */
static __global__ void check_kernel(const source A, unsigned long long *wrong)
{
    const int64_t t = index_of_thread();
    if (t < A.majors) {
        const int64_t here = A.said(t), next = A.said(t + 1);
        const bool first = t > 0 || here == 0, last = t + 1 < A.majors || next == A.blocks;
        if (!first || !last || here > next || next > A.blocks || here < 0)
            atomicMin(&wrong[0], (unsigned long long)t);
    }
    if (t < A.blocks && (A.index(t) < 0 || A.index(t) >= A.majors))
        atomicMin(&wrong[1], (unsigned long long)t);
}

static int report(const trs_mat *A, const uint64_t wrong[2])
{
    const char *line = trs_by_rows(A) ? "row" : "column";
    if (wrong[0] != UINT64_MAX)
        return trs_fail(TRS_EMATRIX, "%s%s %" PRIu64 ": its pointers do not fit the others", line,
                        A->format == TRS_BSR ? " of blocks" : "", wrong[0] + (uint64_t)A->base);
    if (wrong[1] == UINT64_MAX) return TRS_OK;
    return trs_fail(TRS_EMATRIX, "idx[%" PRIu64 "] is out of range", wrong[1]);
}

int trs_lines_check(trs_context *ctx, const trs_mat *A, void *stream)
{
    cudaStream_t s = static_cast<cudaStream_t>(stream);
    uint64_t wrong[2] = {};
    if (A->format == TRS_DENSE || A->n == 0) return TRS_OK;
    if (!A->ptr || (!A->idx && A->nnz)) return trs_fail(TRS_EARG, "ptr or idx is NULL");
    int rc = trs_gpu_use(ctx);
    if (rc) return rc;
    unsigned long long *there = device_new<unsigned long long>(ctx, 2, "a check");
    if (!there) return TRS_EMEM;
    const source m = source_of(A);
    cudaMemsetAsync(there, 0xff, sizeof wrong, s);
    check_kernel<<<blocks_of(max((int64_t)m.majors, m.blocks)), PLAIN, 0, s>>>(m, there);
    cudaMemcpyAsync(wrong, there, sizeof wrong, cudaMemcpyDeviceToHost, s);
    rc = trs_gpu_wait(s);
    trs_gpu_free(ctx, there);
    if (rc) return rc;
    return report(A, wrong);
}
