/* import.cu: makes an operator on the device from any triangle there that has pointers (CSR, CSC, BSR).  import.c
 * does the same on the host.
 *
 * The rows of the operator are the lines of the caller's matrix (source.cuh) or, if the operator is the transpose of
 * the stored matrix, the other index.
 *
 *     the caller's ptr ----------------> the line of every stored entry                    (a scan)
 *     lines, idx ----------------------> how many entries before it are wanted             (a scan)
 *     both, and the diagonals ---------> a list of (row of the operator, origin)
 *     the list, ordered by row --------> ptr, idx, src                                     (CUB's radix sort)
 *
 * An *origin* e < entries is the stored entry e; entries + l is the diagonal of line l, which is not stored or is 1
 * by definition.  Entries of the other triangle are left out.  The list goes through the lines in the order of
 * ascending columns of a transposed operator, so a stable sort by row gives its canonical form, whatever the order
 * within the lines.  If lines are rows nothing needs sorting, unless their columns do not ascend: then the list is
 * sorted by column, and by row.  Each sort is stable and looks only at the bits that a row number has, so the result
 * depends on the matrix alone.
 *
 * No kernel trusts the arrays: an invalid index is left out and counted, as are pointers out of order and entries
 * stored twice.  check.c and import.c then word the message.  A thread has a line, or an entry; only later launches
 * read what it writes.  Bytes an entry, with indices and places of 4 bytes: 22 for lines, counts and list, 16 each 8
 * bits of a row for the sort, 28 for ptr, idx and src, including two random reads.  All others are in order, and
 * bandwidth bounds them. */
#include "config.h"

#include "source.cuh"
#include "cuda/runtime/sort.cuh"

namespace importing
{
/* ---- the caller's triangle --------------------------------------------------------------------- */

struct triangle : source {
    bool below; /* wanted are the entries whose minor index is less than the line, else greater */
    bool strict, unit; /* TRS_STRICT, TRS_UNIT */
    bool transposed;   /* the rows of the operator are the minor indices, else the lines */
    bool reversed;     /* the operator counts backwards */

    __device__ bool is_wanted(int32_t l, int32_t j) const
    {
        return j >= 0 && j != l && (j < l) == below;
    }
    /* Is the entry not to be there?  With TRS_STRICT no block may be in the other triangle. */
    __device__ bool is_wrong(int32_t l, int32_t j) const
    {
        return j < 0 || (strict && (below ? j / block > l / block : j / block < l / block));
    }

    /* A row or column as the operator counts it. */
    __device__ int32_t turned(int32_t k) const { return reversed ? (int32_t)n - 1 - k : k; }
    __device__ int32_t row_of(int32_t l, int32_t j) const { return turned(transposed ? j : l); }
};

static triangle triangle_of(const trs_mat *m, bool transposed, const trs_operator *op)
{
    return {source_of(m),
            trs_by_rows(m) == !!(m->kind & TRS_LOWER),
            !!(m->kind & TRS_STRICT),
            !!(m->kind & TRS_UNIT),
            transposed,
            op->reversed};
}

/* ---- the list ----------------------------------------------------------------------------------- */

struct defects {               /* on the device, all 0 at first */
    unsigned long long wrong;  /* pointers, indices, entries that are stored twice */
    unsigned long long behind; /* entries of a row that are not greater than the one before */
    long long listed;          /* entries of the list */
};

/* P is an integer that counts all entries. */
template <class P> struct work { /* arrays on the device; capacity: entries + n */
    /* [entries] */
    int32_t *line;
    /* [entries+1] 1: the entry is wanted and not on the diagonal; it is in row[0] until the list is made */
    uint8_t *wanted;
    /* [entries+1] wanted entries before each, until the list is made */
    P *before;
    /* [n] the entry that is the diagonal of a line; -1: none */
    P *diagonal;
    /* [capacity] the list, and memory to sort it, where before was */
    int32_t *row[2];
    P *origin[2];
    defects *count;
    sort_temp temp;
    P listed; /* entries of the list, known to the host when it was made */

    __device__ P count_of_list(const triangle &a) const { return before[a.entries] + (P)a.n; }
};

static __global__ void lines_kernel(const triangle a, int32_t *line, defects *count)
{
    long long wrong = 0;
    for (int64_t I = index_of_thread(); I <= a.majors; I += all_threads())
        wrong += a.is_wrong_pointer(I);
    for (int64_t l = index_of_thread(); l < a.n; l += all_threads())
        if (a.pointer(l) < a.pointer(l + 1)) line[a.pointer(l)] = (int32_t)l;
    __syncwarp();
    add_to(&count->wrong, wrong);
}

static __global__ void wanted_kernel(const triangle a, const int32_t *line, uint8_t *wanted)
{
    for (int64_t p = index_of_thread(); p <= a.entries; p += all_threads())
        wanted[p] = p < a.entries && a.is_wanted(line[p], a.minor(p, line[p]));
}

/* What is number k where the lines are gone through forwards. */
template <class P>
static __device__ void put(const triangle &a, const work<P> &w, P k, int32_t l, int32_t j, P origin)
{
    const P at = a.reversed ? w.count_of_list(a) - 1 - k : k;
    TRS_ASSERT(at >= 0 && at < w.count_of_list(a));
    w.row[0][at] = a.row_of(l, j);
    w.origin[0][at] = origin;
}

static __device__ int32_t exchange(int32_t *at, int32_t v)
{
    return atomicExch(at, v);
}

static __device__ int64_t exchange(int64_t *at, int64_t v)
{
    return (int64_t)atomicExch((unsigned long long *)at, (unsigned long long)v);
}

template <class P> static __global__ void entries_kernel(const triangle a, const work<P> w)
{
    long long wrong = 0;
    for (int64_t p = index_of_thread(); p < a.entries; p += all_threads()) {
        const int32_t l = w.line[p], j = a.minor(p, l);
        wrong += a.is_wrong(l, j);
        if (j == l) wrong += exchange(&w.diagonal[l], (P)p) >= 0;
        else if (a.is_wanted(l, j)) put(a, w, (P)(w.before[p] + l + !a.below), l, j, (P)p);
    }
    __syncwarp();
    add_to(&w.count->wrong, wrong);
}

template <class P> static __global__ void diagonals_kernel(const triangle a, const work<P> w)
{
    const int32_t l = index32_of_thread();
    if (l == 0) w.count->listed = w.count_of_list(a);
    if (l >= a.n) return;
    const P found = a.unit ? -1 : w.diagonal[l];
    put(a, w, (P)(w.before[a.pointer(a.below ? l + 1 : l)] + l), l, l,
        found < 0 ? (P)(a.entries + l) : found);
}

/* ---- its order ----------------------------------------------------------------------------------- */

template <class P> static __device__ int32_t line_of(const triangle &a, const work<P> &w, P origin)
{
    return origin < a.entries ? w.line[origin] : (int32_t)(origin - a.entries);
}

/* The column that the operator has it in. */
template <class P>
static __device__ int32_t column_of(const triangle &a, const work<P> &w, P origin)
{
    const int32_t l = line_of(a, w, origin);
    return a.turned(a.transposed || origin >= a.entries ? l : a.minor(origin, l));
}

template <class P> static __global__ void behind_kernel(const triangle a, const work<P> w)
{
    const int64_t listed = w.count_of_list(a);
    long long behind = 0;
    for (int64_t q = 1 + index_of_thread(); q < listed; q += all_threads())
        behind += w.row[0][q] == w.row[0][q - 1] &&
                  column_of(a, w, w.origin[0][q]) <= column_of(a, w, w.origin[0][q - 1]);
    __syncwarp();
    add_to(&w.count->behind, behind);
}

/* The list's rows become its columns, or rows again, where lines are rows. */
template <class P>
static __global__ void keys_kernel(const triangle a, const work<P> w, bool columns)
{
    const int64_t q = index_of_thread();
    if (q >= w.listed) return;
    const P origin = w.origin[0][q];
    w.row[0][q] = columns ? column_of(a, w, origin) : a.turned(line_of(a, w, origin));
}

template <class P> static int sort(work<P> &w, int64_t n, int64_t count)
{
    int bits = 1;
    while ((n - 1) >> bits) bits++;
    return sort_in_place(w.temp, w.row, w.origin, count, bits);
}

/* ---- ptr, idx, src --------------------------------------------------------------------------------- */

/* A row begins where the list comes to another one: none is empty. */
template <class P>
static __global__ void rows_kernel(const triangle a, const work<P> w, const trs_device_view d)
{
    long long wrong = 0;
    for (int64_t q = index_of_thread(); q < w.listed; q += all_threads()) {
        const int32_t i = w.row[0][q];
        const P origin = w.origin[0][q];
        const int32_t l = line_of(a, w, origin), j = column_of(a, w, origin);
        TRS_ASSERT(0 <= j && j <= i && i < a.n);
        if (q == 0 || w.row[0][q - 1] != i) d.ptr[i] = q;
        else wrong += column_of(a, w, w.origin[0][q - 1]) == j;
        d.idx[q] = j;
        if (origin < a.entries) d.src[q] = a.value_of(origin, l);
        else d.src[q] = a.unit ? TRS_SRC_UNIT : TRS_SRC_MISSING;
    }
    if (index_of_thread() == 0) d.ptr[a.n] = w.listed;
    __syncwarp();
    add_to(&w.count->wrong, wrong);
}

/* ---- all of it -------------------------------------------------------------------------------------- */

template <class P> static int find_lines(const triangle &a, work<P> &w)
{
    return largest_up_to(w.temp, w.line, w.line, a.entries);
}

template <class P> static int count_wanted(const triangle &a, work<P> &w)
{
    return sum_before(w.temp, w.wanted, w.before, a.entries + 1);
}

template <class P> static int allocate(trs_context *ctx, const triangle &a, work<P> &w)
{
    const int64_t capacity = a.entries + a.n;
    int rc = find_lines(a, w);
    if (!rc) rc = count_wanted(a, w);
    if (!rc) rc = sort(w, a.n, capacity);
    if (rc) return rc;
    void *const base = carve_scratch(ctx, "the import of a matrix", [&](carver &carve) {
        carve(w.count, 1);
        carve(w.line, a.entries);
        carve(w.before, capacity);
        carve(w.diagonal, a.n);
        carve(w.row[0], capacity);
        carve(w.origin[0], capacity);
        carve(w.origin[1], capacity);
        carve(w.temp.p, (int64_t)w.temp.bytes);
    });
    static_assert(sizeof *w.before >= sizeof *w.row[1], "row[1] uses the memory of before");
    w.row[1] = (int32_t *)w.before;
    w.wanted = (uint8_t *)w.row[0];
    return base ? TRS_OK : TRS_EMEM;
}

/* Make the list, in the order of the lines.  No kernel may read what a launch that failed did not write. */
template <class P> static int list_entries(const triangle &a, work<P> &w)
{
    cudaMemsetAsync(w.count, 0, sizeof *w.count, NULL);
    cudaMemsetAsync(w.line, 0, (size_t)a.entries * sizeof *w.line, NULL);
    cudaMemsetAsync(w.diagonal, 0xff, (size_t)a.n * sizeof *w.diagonal, NULL);
    lines_kernel<<<few_blocks(a.n), PLAIN>>>(a, w.line, w.count);
    int rc = launched();
    if (!rc) rc = find_lines(a, w);
    if (rc) return rc;
    wanted_kernel<<<few_blocks(a.entries + 1), PLAIN>>>(a, w.line, w.wanted);
    rc = launched();
    if (!rc) rc = count_wanted(a, w);
    if (rc) return rc;
    if (a.entries) entries_kernel<<<few_blocks(a.entries), PLAIN>>>(a, w);
    diagonals_kernel<<<blocks_of(a.n), PLAIN>>>(a, w);
    rc = launched();
    if (rc || a.transposed) return rc;
    behind_kernel<<<few_blocks(a.entries + a.n), PLAIN>>>(a, w);
    return launched();
}

/* What the host has to know: TRS_EMATRIX without a sentence if something is wrong. */
template <class P> static int look(trs_context *ctx, const work<P> &w, defects *count)
{
    const int rc = trs_gpu_get(ctx, count, w.count, sizeof *count);
    if (rc) return rc;
    return count->wrong ? TRS_EMATRIX : TRS_OK;
}

template <class P> static int sort_by(const triangle &a, work<P> &w, bool columns)
{
    if (!a.transposed) keys_kernel<<<blocks_of(w.listed), PLAIN>>>(a, w, columns);
    const int rc = launched();
    return rc ? rc : sort(w, a.n, w.listed);
}

template <class P> static int take(const triangle &a, const void *val, trs_operator *op)
{
    trs_context *ctx = op->ctx;
    const trs_device_view *d = &op->device;
    work<P> w = {};
    defects count = {};
    int rc = allocate(ctx, a, w);
    if (!rc) rc = list_entries(a, w);
    if (!rc) rc = look(ctx, w, &count);
    w.listed = (P)count.listed;
    TRS_ASSERT(rc || (a.n <= count.listed && count.listed <= a.entries + a.n));
    if (!rc && count.behind) rc = sort_by(a, w, true);
    if (!rc && (count.behind || a.transposed)) rc = sort_by(a, w, false);
    if (rc) return rc;
    op->tri.nnz = w.listed;
    rc = trs_operator_new_resident(op, a.entries, true);
    if (rc) return rc;
    rows_kernel<<<few_blocks(w.listed), PLAIN>>>(a, w, *d);
    rc = launched();
    if (!rc) rc = trs_gpu_take_values(op->tri.dtype, w.listed, d->src, val, d->val, NULL);
    if (rc) return rc;
    return look(ctx, w, &count);
}
} // namespace importing

int trs_gpu_import(const trs_mat *m, bool transposed, trs_operator *op)
{
    const importing::triangle a = importing::triangle_of(m, transposed, op);
    const bool narrow = a.entries + a.n < INT32_MAX;
    if (narrow) return importing::take<int32_t>(a, m->val, op);
    return importing::take<int64_t>(a, m->val, op);
}
