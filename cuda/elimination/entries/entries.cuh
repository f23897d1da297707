/* entries.cuh: the entry kernel: elimination that computes every updated entry separately.
 *
 *     w(i, j) = a(i, j) - sum_(k < min (i, j)) w(i, k) (1 / u(k, k)) w(k, j)
 *     u(i, j) = w(i, j) for j >= i,     l(i, k) = w(i, k) / u(k, k)
 *
 * L remains unscaled until the end, so an entry follows its operands after one dependency latency and not two.  A
 * *node* is an entry with at least one product; its *level* is one more than the highest of its operands.  The *tail*
 * is the last rows and columns, which one block finishes where their levels would take longer.  L L^H: of the lower
 * triangle alone, with w(k, j) = conj (w(j, k)).
 *
 *     products.cu   the products of each entry, ascending in k
 *     levels.cu     the levels of the nodes, and how many rows the tail has
 *     tasks.cu      nodes of one level and of similar length, as tasks of warps
 *     entries.cu    the numbers: before, nodes.cuh, tail.cuh, and after */
#ifndef TRS_ENTRIES_CUH
#define TRS_ENTRIES_CUH

#include "cuda/elimination/kernels.cuh"
#include "cuda/elimination/pivots.cuh"

enum { ENTRY_WARP = 32 };

/* A warp computes `count` nodes at a time, each of them by so many lanes.  Product s of lane t is number 32 (slot + s) + t
 * of the lists. */
struct entry_task {
    int32_t first, slot; /* node; 32 products */
    int16_t count, lanes;
    int32_t slots;
};

struct alignas(16) entry_node {
    int32_t place; /* entry */
    int32_t pivot; /* row whose pivot it is, or -1 */
    int32_t from;  /* number of A, or -1: it is zero before */
};

/* What an entry is that is not one of L; of those, it is their column. */
enum entry_kind { ENTRY_UPPER = -1, ENTRY_PIVOT = -2, ENTRY_UNUSED = -3 };

/* What is in w before the nodes are computed, where it is not a number of A: zero; "not yet", in a node; what is found row
 * by row, in a pivot that is no node. */
enum entry_beginning { ENTRY_ZERO = -1, ENTRY_NODE = -2, ENTRY_OTHER = -3 };

/* Arrays on the device; entries are counted as in the pattern. */
struct entry_schedule {
    int32_t n, nnz, nodes, tasks, levels;
    int32_t tail; /* rows */
    int64_t products, slots;
    void *lists;         /* the allocation of place, task, node, l, u, k */
    int32_t *row, *kind; /* [nnz] */
    int32_t *from, *to;  /* [nnz] number of A, or an entry_beginning; number of val, or -1 */
    int32_t *place;      /* [tail*tail] entries of the tail by rows, or -1 */
    entry_task *task;    /* [tasks] level by level */
    entry_node *node;    /* [nodes] in the order of the tasks */
    /* [32*slots] entry (i, k), or -1: no product; entry (k, j), of L L^H (j, k); k */
    int32_t *l, *u, *k;
};

/* A run. */
template <class T> struct entry_args {
    entry_schedule s;
    trs_elimination_pattern p;
    pivot_rules rules;
    const T *a;
    T *val, *w, *inv;    /* w [nnz], inv [n]: what is kept of the pivots */
    double *row_largest; /* [n] the largest |a(i, j)| of each row, where boost > 0 */
};

/* Number `from` of A as entry p, which may be a pivot, has it; -1: zero. */
template <class T>
__device__ inline T read_a(const entry_args<T> &g, int64_t p, int64_t from, bool pivot)
{
    if (from < 0) return number<T>(0);
    T a = conj_if(g.p.conjugate && g.p.conjugate[p], g.a[from]);
    if (g.rules.cholesky && pivot) a = number<T>(real_part(a));
    if (!g.p.scale) return a;
    const double by = g.p.scale[g.s.row[p]];
    return for_parts(a, [=](auto part) { return (decltype(part))(by * (double)part); });
}

/* s / u, of which `kept` was published. */
template <class T> __device__ inline T over_pivot(T s, T kept)
{
    return is_inverse(kept) ? s * kept : s / kept;
}

/* u(i, i) of what elimination left in row i. */
template <class T>
__device__ inline T take_pivot(const entry_args<T> &g, int32_t i, T d, pivot_counts &counts)
{
    bool boosted = false;
    const double least = g.rules.boost > 0 ? g.rules.boost * g.row_largest[i] : 0.0;
    d = used_pivot(g.rules, i, d, least, boosted);
    counts.boosted += boosted;
    return d;
}

/* What the schedule is made of.  Operands of a product: l << 32 | u. */
struct entry_making {
    trs_context *ctx;
    const trs_elimination_pattern *p;
    entry_schedule *s;
    int64_t budget;     /* bytes for products */
    uint64_t *operands; /* [products] by targets, then ascending in k */
    int2 *range;    /* [nnz] begin and end of the products of each entry; equal: there are none */
    int32_t *level; /* [nnz] of each entry; 0 where there are no products */
};

/* Each returns TRS_OK, TRS_EMEM, TRS_EDEVICE; the lists would take too much memory: TRS_ESUPPORT without a sentence. */
int entry_products(entry_making *m);
int entry_levels(entry_making *m);
int entry_tasks(entry_making *m);

/* Enough for the numbers 0 .. most. */
inline int bits_of(uint64_t most)
{
    int bits = 1;
    while (bits < 64 && most >> bits) bits++;
    return bits;
}

#endif
