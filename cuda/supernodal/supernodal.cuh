/* supernodal.cuh: supernodes on the device, and where a solve publishes what it computes.  lib/analysis/supernodes.h
 * defines the terms; README.md has the method and its protocol.
 *
 * A copy of x has a place for every row, followed by TRS_SUPERNODE places for every partial sum and every partial
 * right-hand side, each with R numbers, the right-hand sides that the kernel solves at a time:
 *
 *     0 .. n-1                       x
 *     n + 64 p .. n + 64 p + 63      the partial vector number p (trs_supernode.partial)
 *
 * Every number is its own flag (flag.cuh).  There are two copies (published.cuh): a solve publishes in one of them,
 * and the thread block that publishes rows there empties the same rows of the other for the next solve. */
#ifndef TRS_SUPERNODAL_CUH
#define TRS_SUPERNODAL_CUH

#include "cuda/blocks/blocks.cuh"

extern "C" {
#include "analysis/supernodes.h"
}

#include "base/debug.h"

static_assert(int(BLOCK) == int(TRS_SUPERNODE),
              "a supernode of supernodes.h fills a tile of blocks.cuh");
static_assert(int(SLICE) == int(TRS_SLICE), "and slices are slices");

constexpr int CHAIN_PAIRS = TRS_CHAIN * (TRS_CHAIN - 1) / 2;

struct small_supernode { /* all that a warp has to know about one */
    int32_t first, rows;
    int32_t column, columns; /* of its packed panel: column [column ..]; 0, 0: it needs none */
    int64_t panel, inverse;  /* offsets of its packed panel, and of its diagonal block */
};

struct supernodal {
    trs_supernodes s;         /* the numbers */
    trs_supernode *supernode; /* these arrays are on the device */
    trs_panel *panel;
    int32_t *column;
    trs_task *task;
    small_supernode *small; /* [count] */
    void *stored;           /* [stored] entries of the packed panels */
    int *substituted;       /* [count] 1: the diagonal block is L_tt, not its inverse */
    int *split;             /* [count] not 0: the chain that begins there is not inverted */
    int32_t *large;         /* [s.large] the large supernodes */
    int32_t *chain;         /* [chains] the supernode that each begins with */
    int32_t *place;         /* [stored] of each entry in L, -1: zero; NULL: it is searched for */
    double *weight;         /* [n] sums of magnitudes of rows of D, where there are chains */
    /* [chains][CHAIN_PAIRS] tiles: where an update makes the inverses left of the diagonal */
    void *apart;
};

/* ---- a solve ------------------------------------------------------------------------------------ */

/* A vector of the caller's.  Where both triangles of factors are solved by one launch, which has one right-hand side,
 * row i of a triangle is row order [i step] of the vector, times the scale of that row. */
template <class T> struct outside {
    view<T> v;
    const int32_t *order = NULL; /* NULL: row i, or there is no vector */
    int64_t step = 1;
    const double *scale = NULL; /* NULL: 1 */
    /* Rounded, as if stored: no part of a fused multiply-add. */
    __device__ T scaled(T a, int64_t k) const
    {
        const double s = scale ? scale[k] : 1;
        return convert<T>(a, [=](double part) { return __dmul_rn(s, part); });
    }
    __device__ T load(int64_t i) const
    {
        if (!order) return v(i, 0);
        const int64_t k = order[i * step];
        return scaled(v(k, 0), k);
    }
    __device__ void store(int64_t i, T a) const
    {
        if (!v.p) return;
        const int64_t k = order ? order[i * step] : i;
        v(k, 0) = order ? scaled(a, k) : a;
    }
};

template <class T> struct problem { /* what a solve goes by */
    int32_t n, supernodes, tasks;
    const trs_supernode *supernode;
    const trs_panel *panel;
    const int32_t *column;
    const trs_task *task;
    const small_supernode *small;
    const T *stored;
    const int *substituted, *split;
    int nrhs; /* of b and x, up to R: the right-hand sides of the kernel */
    outside<T> b, x;
    bool cj;
    turn *state;
    T *copy; /* [2][copy_size] */
    int64_t copy_size;
};

template <class T> struct copies { /* of x, in this solve */
    T *published;                  /* numbers of this solve */
    T *emptied;                    /* those of the solve before, which go */
    int width; /* right-hand sides that the solve before had; 0: that copy is empty */
    /* b, published by the triangle before in the same launch: that of row i at before [i step]; NULL: b is the caller's */
    const T *before = NULL;
    int64_t step = 1;
    __device__ explicit copies(const problem<T> &P)
    {
        const unsigned now = P.state->now;
        TRS_ASSERT(now < 2 && P.state->width[now] == 0); /* empty before anything is published */
        published = P.copy + now * P.copy_size;
        emptied = P.copy + (1 - now) * P.copy_size;
        width = (int)P.state->width[1 - now];
    }
};

/* Row i of the one right-hand side. */
template <class T> __device__ inline T load_rhs(const problem<T> &P, const copies<T> &h, int64_t i)
{
    return h.before ? flag_wait(h.before + i * h.step) : P.b.load(i);
}

/* The place of partial sum number p, p counting from the first one of its supernode. */
template <class T>
__device__ inline int32_t place_of_partial(const problem<T> &P, const trs_supernode &k, int p)
{
    return P.n + (k.partial + p) * BLOCK;
}

/* The place of the partial right-hand side of a supernode of a chain. */
template <class T>
__device__ inline int32_t place_of_rhs(const problem<T> &P, const trs_supernode &k)
{
    return place_of_partial(P, k, k.partials);
}

/* The same of a row of its chain; supernode is the last one that the row may belong to. */
template <class T>
__device__ inline int32_t place_of_rhs_row(const problem<T> &P, int supernode, int row)
{
    while (row < P.supernode[supernode].first) supernode--;
    TRS_ASSERT(row < P.supernode[supernode].first + P.supernode[supernode].rows);
    return place_of_rhs(P, P.supernode[supernode]) + row - P.supernode[supernode].first;
}

/* ---- update.cu --------------------------------------------------------------------------------- */

/* From values of L on the device, of which ptr and idx are there, too. */
int supernodal_keep_places(trs_context *ctx, supernodal *d, const trs_device_view *L, int64_t nnz);
int supernodal_take(const supernodal *d, const trs_device_view *L, trs_dtype t, const void *val,
                    cudaStream_t stream);

/* ---- cost.cu ------------------------------------------------------------------------------------ */

/* After the build with the supernodes that the last update could not invert, for which it waits. */
const char *supernodal_estimate(const trs_prospect *p, const trs_instance *built,
                                const trs_machine *m, trs_cost *c);

#endif
