/* many.cu: cuda-dataflow with several right-hand sides, 2 to 32 at a time.
 *
 * A team of lanes has a node, and a lane of it two columns, which one load of 16 bytes brings.  The lanes of a team
 * read its entries together, one each, and hand them round; where rows are long, more lanes have the same columns
 * and share the entries.  While y is waited for, the entries that come after are read.
 * Who owns a row: a team.  How x becomes visible: dataflow.cu.  Why it cannot hang: nodes are given out in order,
 * cyclically over the teams of warps that are all resident, and a team that waits does not keep the others of its
 * warp from publishing.  The sum of a row is made in an order that depends on the pattern alone.
 * Columns are turned into rows before, and back after.  Bytes in fp64: 12 nnz + 20 n, then per column 8 nnz of y and
 * 56 n of B, y, X and the turning.  Bound by hops where levels are narrow, else by y and the turning. */
#include "config.h"

#include "dataflow.cuh"
#include "cuda/runtime/flag.cuh"

#include <climits>

enum { THREADS = 256, WARP = TRS_FLOW_WARP };

template <class T> struct many_args {
    int32_t nodes;
    const int64_t *ptr;
    const int32_t *idx, *row;
    const T *val, *inv;
    const int *divides;
    T *y;         /* [nodes][R] its own flag */
    T *rows;      /* [n][R] B; NULL: b */
    view<T> b, x; /* x.p NULL: y is all that is wanted */
    int nrhs;
    bool cj;
};

/* A team for R columns, in which S lanes have the same ones, if there are so many. */
template <class T, int R, int S> struct shape {
    typedef T type;
    static constexpr int WIDTH = R;
    static constexpr int COLUMNS = sizeof(T) > 8 ? 1 : 2; /* of a lane: 8 or 16 bytes of y */
    static constexpr int ACROSS = R / COLUMNS;
    static constexpr int SHARES = S * ACROSS > WARP ? WARP / ACROSS : S;
    static constexpr int TEAM = ACROSS * SHARES;          /* lanes */
    static constexpr int TEAMS = WARP / TEAM;             /* of a warp */
    static constexpr int LINES = ACROSS < 4 ? ACROSS : 4; /* of y that a lane has in flight */
    static constexpr int BLOCKS = sizeof(T) > 8 ? 2 : 3;  /* of an SM, so that registers suffice */
    typedef pack<T, COLUMNS> columns;
};

/* Where a lane stands. */
template <class S> struct seat {
    int team, lane; /* of the warp; of the team */
    int across, r;  /* which columns, the first of them */
    int share;      /* which entries */
    unsigned mask;  /* of the team */
    __device__ seat()
        : team(threadIdx.x % WARP / S::TEAM), lane(threadIdx.x % S::TEAM), across(lane % S::ACROSS),
          r(across * S::COLUMNS), share(lane / S::ACROSS),
          mask(~0u >> (WARP - S::TEAM) << (team * S::TEAM))
    {
    }
};

/* Where a node's entries are, and what its row needs; read a turn ahead of the entries. */
template <class T> struct node_head {
    int64_t p;
    int32_t count, row;
    T inv;
};

template <class T> __device__ inline node_head<T> read_head(const many_args<T> &k, int64_t node)
{
    node_head<T> h = {0, 0, -1, number<T>(0)};
    if (node < k.nodes) {
        h.p = k.ptr[node];
        h.count = (int32_t)(k.ptr[node + 1] - h.p);
        h.row = k.row[node];
        h.inv = k.inv[node];
    }
    return h;
}

/* What one lane holds of the entries of its team. */
template <class T> struct lane_entry {
    int32_t node; /* -1: nothing */
    T a;
};

/* Of count entries from p on. */
template <class T>
__device__ inline lane_entry<T> read_entry(const many_args<T> &k, int64_t p, int lane,
                                           int32_t count)
{
    lane_entry<T> e = {-1, number<T>(0)};
    if (lane < count) {
        e.node = k.idx[p + lane];
        e.a = conj_if(k.cj, k.val[p + lane]);
    }
    return e;
}

/* What a lane has of a row of R numbers. */
template <class S, class T = typename S::type>
__device__ inline typename S::columns *part_of(const seat<S> &me, T *rows, int64_t row)
{
    return (typename S::columns *)(rows + row * S::WIDTH) + me.across;
}

template <class S, class T = typename S::type>
__device__ inline typename S::columns read_b(const many_args<T> &k, const seat<S> &me, int32_t row)
{
    typename S::columns b = {};
    if (row < 0) return b;
    if (k.rows) return *part_of(me, k.rows, row);
    for (int c = 0; c < S::COLUMNS; c++)
        if (me.r + c < k.nrhs) b.v[c] = k.b(row, me.r + c);
    return b;
}

/* Lines of y that a lane waits for. */
template <class S> struct lines {
    int32_t node[S::LINES]; /* -1: none */
    typename S::columns y[S::LINES];
    unsigned waiting;
};

/* From the entries of the team from at on. */
template <class S, class T = typename S::type>
__device__ inline void ask(lines<S> &w, const seat<S> &me, const lane_entry<T> &e, int at, bool now)
{
#pragma unroll
    for (int j = 0; j < S::LINES; j++) {
        const int32_t node = __shfl_sync(~0u, e.node, at + j * S::SHARES + me.share, S::TEAM);
        if (!now) continue;
        w.node[j] = node;
        if (node >= 0) w.waiting |= 1u << j;
    }
}

/* All loads are under way before the first is looked at. */
template <class S, class T = typename S::type>
__device__ inline void poll(const many_args<T> &k, const seat<S> &me, lines<S> &w)
{
#pragma unroll
    for (int j = 0; j < S::LINES; j++)
        if (w.waiting >> j & 1) w.y[j] = flag_peek(part_of(me, k.y, w.node[j]));
#pragma unroll
    for (int j = 0; j < S::LINES; j++)
        if (w.waiting >> j & 1 && flag_there(w.y[j])) w.waiting &= ~(1u << j);
}

template <class T> __device__ inline T shuffle(T v, int from, int width)
{
    return for_parts(v, [=](auto part) { return __shfl_sync(~0u, part, from, width); });
}

/* s = s + a y where all of y is there. */
template <class S, class T = typename S::type>
__device__ inline void add(typename S::columns &s, const lines<S> &w, const seat<S> &me,
                           const lane_entry<T> &e, int at, bool whole)
{
#pragma unroll
    for (int j = 0; j < S::LINES; j++) {
        const T a = shuffle(e.a, at + j * S::SHARES + me.share, S::TEAM);
        if (whole && w.node[j] >= 0)
            for (int c = 0; c < S::COLUMNS; c++) s.v[c] = s.v[c] + a * w.y[j].v[c];
    }
}

/* The sum over the lanes that have the same columns, in all of them. */
template <class S> __device__ inline typename S::columns together(typename S::columns s)
{
    using T = typename S::type;
#pragma unroll
    for (int by = S::ACROSS; by < S::TEAM; by *= 2)
        for (int c = 0; c < S::COLUMNS; c++) {
            const T other =
                for_parts(s.v[c], [=](auto part) { return __shfl_xor_sync(~0u, part, by, WARP); });
            s.v[c] = s.v[c] + other;
        }
    return s;
}

/* What is left of b, over the diagonal; times -1 in a piece. */
template <bool DIVIDES, class T>
__device__ inline T divide(const many_args<T> &k, const node_head<T> &h, T rest)
{
    return over(DIVIDES, rest, conj_if(k.cj, h.inv));
}

template <class S, bool DIVIDES, class T = typename S::type>
__device__ inline void publish(const many_args<T> &k, const seat<S> &me, int64_t node,
                               const node_head<T> &h, const typename S::columns &b,
                               const typename S::columns &sum)
{
    typename S::columns x;
    if (me.share > 0) return;
    for (int c = 0; c < S::COLUMNS; c++) x.v[c] = divide<DIVIDES>(k, h, b.v[c] - sum.v[c]);
    flag_store(part_of(me, k.y, node), x);
    if (h.row < 0 || !k.x.p) return;
    for (int c = 0; c < S::COLUMNS; c++)
        if (me.r + c < k.nrhs) k.x(h.row, me.r + c) = x.v[c];
}

/* Entries behind those that the team holds of the left ones from p on: of this node, else the first of the next. */
template <class S, class T = typename S::type>
__device__ inline lane_entry<T> read_ahead(const many_args<T> &k, const seat<S> &me, int64_t p,
                                           int32_t left, const node_head<T> &next)
{
    const bool more = left > S::TEAM;
    return read_entry(k, more ? p + S::TEAM : next.p, me.lane, more ? left - S::TEAM : next.count);
}

/* A node of each team; e: its first entries, then those of the next.  Every lane of the warp goes round the loop
 * until all its nodes are published, and comes to each ballot and shuffle in it: none may stand behind &&. */
template <class S, bool DIVIDES, class T = typename S::type>
__device__ inline void run_nodes(const many_args<T> &k, const seat<S> &me, int64_t node,
                                 const node_head<T> &h, const node_head<T> &next,
                                 const typename S::columns &b, lane_entry<T> &e)
{
    lane_entry<T> ahead = read_ahead(k, me, h.p, h.count, next);
    typename S::columns s = {};
    lines<S> w;
    w.waiting = 0;
    bool done = node >= k.nodes, fresh = !done;
    int64_t p = h.p;                /* where the entries begin that the team holds */
    int32_t left = h.count, at = 0; /* from there on; of them those that are done */
    while (__any_sync(~0u, !done)) {
        if (__any_sync(~0u, fresh)) ask(w, me, e, at, fresh);
        fresh = false;
        poll(k, me, w);
        const unsigned lacking = __ballot_sync(~0u, w.waiting != 0) & me.mask;
        const bool whole = !done && !lacking;
        if (!__any_sync(~0u, whole)) continue;
        add(s, w, me, e, at, whole);
        if (whole) at += S::LINES * S::SHARES;
        const bool last = whole && at >= left;
        if (__any_sync(~0u, last)) {
            const typename S::columns sum = together<S>(s);
            if (last) publish<S, DIVIDES>(k, me, node, h, b, sum);
        }
        done = done || last;
        fresh = whole && !last;
        if (fresh && at == S::TEAM) {
            e = ahead;
            at = 0;
            p += S::TEAM;
            left -= S::TEAM;
            ahead = read_ahead(k, me, p, left, next);
        }
    }
    e = ahead;
}

template <class S, bool DIVIDES, class T = typename S::type>
static __device__ inline void run_all(const many_args<T> &k)
{
    const seat<S> me;
    const int64_t stride = (int64_t)gridDim.x * (THREADS / WARP) * S::TEAMS;
    /* neighbouring nodes go to different SMs */
    const int64_t warp = (threadIdx.x / WARP) * (int64_t)gridDim.x + blockIdx.x;
    const int64_t first = warp * S::TEAMS + me.team;
    auto h = read_head(k, first), next = read_head(k, first + stride);
    auto e = read_entry(k, h.p, me.lane, h.count);
    auto b = read_b(k, me, h.row);
    for (int64_t node = first; node - me.team < k.nodes; node += stride) {
        const auto after = read_head(k, node + 2 * stride);
        delay();
        const auto next_b = read_b(k, me, next.row);
        run_nodes<S, DIVIDES>(k, me, node, h, next, b, e);
        h = next;
        next = after;
        b = next_b;
    }
}

template <class S>
static __global__ void __launch_bounds__(THREADS, S::BLOCKS)
    many_kernel(const many_args<typename S::type> k)
{
    if (*k.divides) run_all<S, true>(k);
    else run_all<S, false>(k);
}

/* ---- columns and rows ----------------------------------------------------------------------------------- */

/* rows (i, r) = b (i, r), 0 from column nrhs on: through tiles of 32 rows, so that both are read and written by
 * lines. */
template <class T, int R>
static __global__ void to_rows(int32_t n, int nrhs, const view<T> b, T *rows)
{
    __shared__ T tile[R][WARP + 1];
    const int64_t first = (int64_t)blockIdx.x * WARP;
    for (int k = threadIdx.x; k < WARP * R; k += THREADS) {
        const int i = k % WARP, r = k / WARP;
        tile[r][i] = first + i < n && r < nrhs ? b(first + i, r) : number<T>(0);
    }
    __syncthreads();
    for (int k = threadIdx.x; k < WARP * R; k += THREADS)
        if (first + k / R < n) rows[first * R + k] = tile[k % R][k / R];
}

/* x (i, r) = y (place of i, r), likewise. */
template <class T, int R>
static __global__ void to_columns(int32_t n, int nrhs, const T *y, const int32_t *place,
                                  const view<T> x)
{
    __shared__ T tile[R][WARP + 1];
    const int64_t first = (int64_t)blockIdx.x * WARP;
    for (int k = threadIdx.x; k < WARP * R; k += THREADS)
        if (first + k / R < n) tile[k % R][k / R] = y[(int64_t)place[first + k / R] * R + k % R];
    __syncthreads();
    for (int k = threadIdx.x; k < WARP * R; k += THREADS) {
        const int i = k % WARP, r = k / WARP;
        if (first + i < n && r < nrhs) x(first + i, r) = tile[r][i];
    }
}

/* ---- the host side -------------------------------------------------------------------------------------- */

static const int widths[MANY] = {2, 4, 8, 16, 32};

/* The kernel for nrhs columns, or the widest. */
static int kind_of(int nrhs)
{
    int k = 0;
    while (k + 1 < MANY && widths[k] < nrhs) k++;
    return k;
}

int many_width(int nrhs)
{
    return widths[kind_of(nrhs)];
}

int many_at_once(int nrhs)
{
    return min(nrhs, many_width(nrhs));
}

/* f (shape), of the two there are for a width the one for rows of that length. */
template <class T, int R, class F> static int for_length(bool lengthy, F f)
{
    constexpr int FEW = R < 8 ? 8 / R : 1, MORE = R < 32 ? 4 * FEW : 2;
    return lengthy ? f(shape<T, R, MORE>()) : f(shape<T, R, FEW>());
}

template <class T, class F> static int for_shape(int width, bool lengthy, F f)
{
    switch (width) {
    case 2:
        return for_length<T, 2>(lengthy, f);
    case 4:
        return for_length<T, 4>(lengthy, f);
    case 8:
        return for_length<T, 8>(lengthy, f);
    case 16:
        return for_length<T, 16>(lengthy, f);
    default:
        return for_length<T, 32>(lengthy, f);
    }
}

/* The place of each row; squares: of the lengths of all nodes, added up. */
static __global__ void place_kernel(const trs_flow f, int32_t *place, unsigned long long *squares)
{
    __shared__ unsigned long long s[PLAIN];
    const int32_t k = (int32_t)(blockIdx.x * PLAIN + threadIdx.x);
    const int64_t length = k < f.nodes ? f.ptr[k + 1] - f.ptr[k] : 0;
    s[threadIdx.x] = (unsigned long long)(length * length);
    if (k < f.nodes && f.row[k] >= 0) place[f.row[k]] = k;
    __syncthreads();
    block_sum(s, PLAIN);
    if (threadIdx.x == 0) atomicAdd(squares, s[0]);
}

/* d->place, and d->lengthy: is an entry, on average, one of a long row?  Then lanes share rows. */
static int place_rows(trs_context *ctx, dataflow *d)
{
    enum { LENGTHY = 10 }; /* entries; 9 and 11.5 were better off on their sides of it */
    const trs_flow *f = &d->flow;
    unsigned long long squares = 0;
    void *sum = trs_gpu_scratch(ctx, sizeof squares, "lengths of rows");
    if (!sum) return TRS_EMEM;
    if (f->nodes == 0) return TRS_OK;
    cudaMemsetAsync(sum, 0, sizeof squares);
    place_kernel<<<blocks_of(f->nodes), PLAIN>>>(*f, d->place, (unsigned long long *)sum);
    if (launched()) return trs_fail(TRS_EDEVICE, "the places of rows cannot be found");
    const int rc = trs_gpu_get(ctx, &squares, sum, sizeof squares);
    d->lengthy = (double)squares > (double)LENGTHY * (double)f->nnz;
    return rc;
}

/* As many blocks as the teams of six levels fill; where rows are long, as many as there is room for. */
template <class S> static int count_blocks(const dataflow *d)
{
    const trs_flow *f = &d->flow;
    const double six = 6.0 * f->nodes / (f->levels ? f->levels : 1) / (S::TEAMS * THREADS / WARP);
    return waiting_blocks((const void *)many_kernel<S>, THREADS, 0,
                          d->lengthy ? INT_MAX : max(six, (double)multiprocessors()));
}

/* f (shape) of the kernel of that kind for d. */
template <class F> static int for_kernel(const dataflow *d, int kind, F f)
{
    return for_type(d->dtype, [&](auto zero) {
        return for_shape<decltype(zero)>(widths[kind], d->lengthy, f);
    });
}

int many_new(trs_context *ctx, dataflow *d)
{
    int rc = place_rows(ctx, d);
    for (int k = 0; k < MANY && !rc; k++)
        rc = for_kernel(d, k, [&](auto shape) {
            d->many_blocks[k] = count_blocks<decltype(shape)>(d);
            return int(TRS_OK);
        });
    return rc;
}

int64_t many_work_bytes(int64_t nodes, int64_t n, trs_dtype dtype, int nrhs)
{
    return (nodes + n) * (int64_t)trs_size(dtype) * many_width(nrhs);
}

template <class S, class T = typename S::type>
static int launch(const many_args<T> &k, int blocks, cudaStream_t stream)
{
    const size_t flags = (size_t)k.nodes * S::WIDTH * sizeof(T);
    void *args[] = {(void *)&k};
    if (cudaMemsetAsync(k.y, 0xff, flags, stream) != cudaSuccess) return TRS_EDEVICE;
    return cudaLaunchCooperativeKernel((const void *)many_kernel<S>, dim3((unsigned)blocks),
                                       dim3(THREADS), args, 0, stream) == cudaSuccess
               ? TRS_OK
               : TRS_EDEVICE;
}

/* Columns far apart are turned into rows first: a row of them would be as many lines as it has numbers. */
template <class S> static int solve(const dataflow *d, const trs_job *job, int blocks)
{
    using T = typename S::type;
    const trs_flow *f = &d->flow;
    const unsigned tiles = (unsigned)((d->n + WARP - 1) / WARP);
    const cudaStream_t stream = (cudaStream_t)job->stream;
    const view<T> b = typed<T>(job->b), x = typed<T>(job->x);
    many_args<T> k = {f->nodes,
                      f->ptr,
                      f->idx,
                      f->row,
                      (const T *)d->val,
                      (const T *)d->inv,
                      d->flow.divides,
                      (T *)job->work,
                      NULL,
                      b,
                      x,
                      job->nrhs,
                      job->conj};
    if (b.cs == 1 || x.cs == 1) return launch<S>(k, blocks, stream);
    k.rows = k.y + (int64_t)f->nodes * S::WIDTH;
    k.x.p = NULL;
    to_rows<T, S::WIDTH><<<tiles, THREADS, 0, stream>>>(d->n, job->nrhs, b, k.rows);
    const int rc = launch<S>(k, blocks, stream);
    to_columns<T, S::WIDTH><<<tiles, THREADS, 0, stream>>>(d->n, job->nrhs, k.y, d->place, x);
    return rc ? rc : launched();
}

int many_solve(const dataflow *d, const trs_job *job)
{
    const int kind = kind_of(job->nrhs);
    return for_kernel(
        d, kind, [&](auto shape) { return solve<decltype(shape)>(d, job, d->many_blocks[kind]); });
}

/* Fitted to 2, 8 and 32 columns of 90 triangles on an H200.  Rows are taken in turn by some 2500 teams: where so many
 * come between a long row and what it waits for last, it begins when all of it is there, and its rounds of lines of y
 * take time; else it is through with all but the last when that comes.  Rows of thousands of entries wait for their
 * pieces, too.  The widest level is left out: it is often the first, of rows that wait for none. */
void many_cost(const trs_shape *s, int width, const trs_machine *m, trs_cost *c)
{
    const double n = (double)s->n, nnz = (double)s->nnz, levels = max((double)s->levels, 1.);
    const double numbers = width * s->elem, lines = width < 32 ? 16 : 8; /* in a round */
    const double rows = max(n - (double)s->widest, 0.) / levels, teams = 2500, thousands = 2048;
    const double late = s->sum_longest / lines * min(rows / teams, 1.); /* rounds */
    const double pieces = min(s->sum_longest / thousands, levels);
    c->bytes = (7.5 * nnz * (s->elem + 4) + 8.4 * n * numbers) * m->gpu_byte;
    c->sync = 6.5 * m->gpu_launch;
    c->hops =
        (levels * (0.885 + 0.035 * log2(1 + rows)) + 0.35 * pieces + 0.22 * late) * m->gpu_hop;
}
