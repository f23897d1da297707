/* merged.cu: pairs of levels made one by substitution, then cuda-dataflow.
 *
 * A row waits for rows of the level before its own.  With their equations put in for them it waits for what they
 * wait for: M T x = M b, where M = I - N, and row i of N has T(i, j) / T(j, j) for these rows j.  T' = M T is a
 * lower triangle again.  In one pass every second level is merged so with the one before it, where the entries
 * that this adds take less time than the hop between SMs that it saves; passes go on while some level is merged.
 * M b, a pass after the other: rows that are changed read rows that are not, so it can be done in place.
 * In the solve, who owns a row, how x becomes visible and why it cannot hang: dataflow.cu.
 * Bytes: those of cuda-dataflow on T', and for each pass 16 n + 20 nnz (N).  Bound by hops, then by the gathers
 * of T'.
 * The residual of T is M^-1 = I + N times that of T'.  The rows of N are summed up at each update: where the
 * product of 1 + the largest sums of all passes is more than GROWTH, T itself is solved.
 * Source: one step of cyclic reduction (Hockney 1965), for any pattern; as rewriting of equations it is known
 * from level-set solvers on CPUs. */
#include "config.h"

#include "dataflow.cuh"

#include <cmath>
#include <cstring>

#include <cub/device/device_scan.cuh>

enum {
    THREADS = PLAIN,
    WARP = 32,
    ROOM = 96,  /* entries that a row may be made of */
    MOST = 24,  /* rows put in for it */
    PASSES = 6, /* at most */
};
static const double GROWTH = 1024;

/* One pass: M and T' = M T, of the T before; arrays on the device. */
struct merging {
    trs_pattern from, to;
    unsigned char *merged; /* [from.levels] with the level before? */
    int64_t *to_ptr;
    int32_t *to_idx, *to_level;
    void *val;    /* [to.nnz] */
    int64_t *ptr; /* [n+1] of N */
    int32_t *idx;
    void *n_val; /* of -N */
    int64_t nnz;
};

struct merged {
    int passes;
    merging pass[PASSES];
    int64_t *ptr; /* T, which the caller's side does not keep */
    int32_t *idx, *level;
    dataflow flow, plain; /* of the last T', and of T when the growth is too large */
    uint64_t *
        growth; /* [passes] on the device: largest sum of a row of N if more than 1, a double's bits */
    bool too_large;
};

/* ---- what a row is made of ------------------------------------------------------------------------------- */

struct room { /* of a warp, in shared memory */
    int32_t col[ROOM];
    int64_t from[ROOM];  /* place of the entry in T */
    int8_t put_in[ROOM]; /* which of the rows put in it is from; -1: of the row itself */
    bool again[ROOM];    /* its column was there before */
    int32_t row[MOST];   /* put in */
    int64_t place[MOST]; /* of the entry that it is put in for */
    int64_t begin[MOST]; /* its entries */
    int32_t end[MOST];   /* where they end here */
};

struct parts {
    int count,
        rows; /* entries, those of the same column counted apart; rows put in, 0: it stays as it is */
};

/* The entries of a row that stay, and the rows put in for those in the level just before. */
static __device__ parts sort_out(const trs_pattern &t, int64_t begin, int64_t end, int32_t level,
                                 room &w)
{
    const int lane = threadIdx.x % WARP;
    const unsigned before = (1u << lane) - 1;
    parts r = {0, 0};
    for (int64_t p = begin; p < end; p += WARP) {
        const int32_t j = p + lane < end ? t.idx[p + lane] : -1;
        const bool last = j >= 0 && t.level[j] == level - 1;
        const unsigned own = __ballot_sync(~0u, j >= 0 && !last), puts = __ballot_sync(~0u, last);
        const int to = r.count + __popc(own & before), k = r.rows + __popc(puts & before);
        if (j >= 0 && !last) {
            w.col[to] = j;
            w.from[to] = p + lane;
            w.put_in[to] = -1;
        }
        if (last && k < MOST) {
            w.row[k] = j;
            w.place[k] = p + lane;
        }
        r.count += __popc(own);
        r.rows += __popc(puts);
    }
    __syncwarp();
    return r;
}

/* Where the entries of the rows put in go; how many there are then. */
static __device__ int make_room(const trs_pattern &t, const parts &r, room &w)
{
    const int lane = threadIdx.x % WARP;
    int end = 0;
    if (lane < r.rows) {
        const int32_t j = w.row[lane];
        w.begin[lane] = t.ptr[j];
        end = (int)min(t.ptr[j + 1] - 1 - w.begin[lane], (int64_t)ROOM + 1);
    }
    for (int by = 1; by < WARP; by *= 2) {
        const int other = __shfl_up_sync(~0u, end, by);
        if (lane >= by) end += other;
    }
    if (lane < r.rows) w.end[lane] = r.count + end;
    __syncwarp();
    return r.count + __shfl_sync(~0u, end, WARP - 1);
}

/* By a warp: of a row of a level that is merged with the one before. */
static __device__ parts take_apart(const merging &m, int64_t i, room &w)
{
    const trs_pattern &t = m.from;
    const int64_t begin = t.ptr[i], end = t.ptr[i + 1] - 1;
    const int32_t level = t.level[i];
    const parts none = {0, 0};
    if (!m.merged[level] || end - begin > ROOM) return none;
    const parts r = sort_out(t, begin, end, level, w);
    if (r.rows > MOST) return none;
    const int count = make_room(t, r, w);
    if (count > ROOM) return none;
    for (int a = r.count + threadIdx.x % WARP; a < count; a += WARP) {
        int k = 0;
        while (a >= w.end[k]) k++;
        w.from[a] = w.begin[k] + a - (k > 0 ? w.end[k - 1] : r.count);
        w.col[a] = t.idx[w.from[a]];
        w.put_in[a] = (int8_t)k;
    }
    __syncwarp();
    return {count, r.rows};
}

/* By a warp: how many different columns, and w.again. */
static __device__ int count_columns(room &w, int count)
{
    int found = 0;
    for (int a = threadIdx.x % WARP; a - (int)threadIdx.x % WARP < count; a += WARP) {
        bool first = a < count;
        for (int c = 0; c < a && first; c++) first = w.col[c] != w.col[a];
        if (a < count) w.again[a] = !first;
        found += __popc(__ballot_sync(~0u, first));
    }
    __syncwarp();
    return found;
}

static __device__ room &room_of_warp()
{
    __shared__ room all[THREADS / WARP];
    return all[threadIdx.x / WARP];
}

static __device__ int64_t row_of_warp()
{
    return (blockIdx.x * (int64_t)THREADS + threadIdx.x) / WARP;
}

struct tally {    /* of a level */
    int64_t adds; /* entries, of N too */
    int32_t stay; /* rows that cannot be merged */
};

/* What each level adds, were it merged; of every so many-th row. */
static __global__ void tally_kernel(const merging m, int every, tally *of)
{
    const int64_t i = row_of_warp() * every;
    room &w = room_of_warp();
    if (i >= m.from.n) return;
    const int32_t l = m.from.level[i];
    if (!m.merged[l]) return;
    const parts r = take_apart(m, i, w);
    const int64_t length = m.from.ptr[i + 1] - m.from.ptr[i];
    const int64_t added = (count_columns(w, r.count) + 1 + r.rows - length) * every;
    if (threadIdx.x % WARP) return;
    if (r.rows) atomicAdd((unsigned long long *)&of[l].adds, (unsigned long long)added);
    else of[l].stay = 1;
}

/* Entries of each row of T' and of N. */
static __global__ void count_kernel(const merging m)
{
    const int64_t i = row_of_warp();
    room &w = room_of_warp();
    if (i > m.from.n) return;
    const bool row = i < m.from.n;
    const parts r = row ? take_apart(m, i, w) : parts{0, 0};
    const int columns = count_columns(w, r.count);
    if (threadIdx.x % WARP) return;
    m.ptr[i] = r.rows;
    m.to_ptr[i] = r.rows ? columns + 1 : row ? m.from.ptr[i + 1] - m.from.ptr[i] : 0;
}

/* number: of each level in T'. */
static __global__ void level_kernel(const merging m, const int32_t *number)
{
    const int64_t i = blockIdx.x * (int64_t)THREADS + threadIdx.x;
    if (i < m.from.n) m.to_level[i] = number[m.from.level[i]];
}

static __global__ void fill_kernel(const merging m)
{
    const int64_t i = row_of_warp();
    const int lane = threadIdx.x % WARP;
    room &w = room_of_warp();
    if (i >= m.from.n) return;
    const int64_t begin = m.from.ptr[i], end = m.from.ptr[i + 1], to = m.to_ptr[i];
    const parts r = take_apart(m, i, w);
    if (!r.rows) {
        for (int64_t p = begin + lane; p < end; p += WARP) m.to_idx[to + p - begin] = m.from.idx[p];
        return;
    }
    count_columns(w, r.count);
    for (int a = lane; a < r.count; a += WARP) {
        int less = 0;
        for (int c = 0; c < r.count; c++) less += !w.again[c] && w.col[c] < w.col[a];
        if (!w.again[a]) m.to_idx[to + less] = w.col[a];
    }
    if (lane < r.rows) m.idx[m.ptr[i] + lane] = w.row[lane];
    if (lane == 0) m.to_idx[m.to_ptr[i + 1] - 1] = (int32_t)i;
}

/* ---- values ------------------------------------------------------------------------------------------------ */

static __device__ inline double size_of(float a)
{
    return fabs(a);
}
static __device__ inline double size_of(double a)
{
    return fabs(a);
}
template <class T> static __device__ inline double size_of(T a)
{
    return fabs((double)a.x) + fabs((double)a.y);
}

/* -N of row i, and the sum of its sizes. */
template <class T>
static __device__ double factors(const merging &m, int64_t i, const T *val, const room &w, int rows)
{
    const int lane = threadIdx.x % WARP;
    double sum = 0;
    if (lane < rows) {
        const T f = number<T>(0) - val[w.place[lane]] / val[m.from.ptr[w.row[lane] + 1] - 1];
        ((T *)m.n_val)[m.ptr[i] + lane] = f;
        sum = size_of(f);
    }
    for (int by = WARP / 2; by > 0; by /= 2) sum += __shfl_xor_sync(~0u, sum, by);
    __syncwarp();
    return sum;
}

template <class T>
static __global__ void values_kernel(const merging m, const T *val, uint64_t *growth)
{
    const int64_t i = row_of_warp();
    const int lane = threadIdx.x % WARP;
    room &w = room_of_warp();
    if (i >= m.from.n) return;
    const int64_t begin = m.from.ptr[i], end = m.from.ptr[i + 1], to = m.to_ptr[i];
    T *const out = (T *)m.val + to;
    const parts r = take_apart(m, i, w);
    if (!r.rows) {
        for (int64_t p = begin + lane; p < end; p += WARP) out[p - begin] = val[p];
        return;
    }
    const double sum = factors(m, i, val, w, r.rows);
    const T *const f = (const T *)m.n_val + m.ptr[i];
    const int columns = (int)(m.to_ptr[i + 1] - to) - 1;
    for (int q = lane; q < columns; q += WARP) {
        const int32_t j = m.to_idx[to + q];
        T s = number<T>(0);
        for (int a = 0; a < r.count; a++) {
            if (w.col[a] != j) continue;
            const T v = val[w.from[a]];
            s = s + (w.put_in[a] < 0 ? v : f[w.put_in[a]] * v);
        }
        out[q] = s;
    }
    if (lane) return;
    out[columns] = val[end - 1];
    if (!(sum <= 1))
        atomicMax((unsigned long long *)growth, (unsigned long long)__double_as_longlong(sum));
}

/* to = M from, or of what is in place the rows that change. */
template <class T>
static __global__ void product_kernel(int32_t n, int nrhs, const int64_t *ptr, const int32_t *idx,
                                      const T *val, bool cj, const view<T> from, const view<T> to)
{
    const int64_t i = blockIdx.x * (int64_t)THREADS + threadIdx.x;
    if (i >= n) return;
    const int64_t begin = ptr[i], end = ptr[i + 1];
    if (begin == end && from.p == to.p) return;
    for (int r = 0; r < nrhs; r++) {
        T s = from(i, r);
        for (int64_t p = begin; p < end; p++) s = s + conj_if(cj, val[p]) * from(idx[p], r);
        to(i, r) = s;
    }
}

/* ---- the host side ------------------------------------------------------------------------------------------ */

static int failed(trs_context *ctx, cudaError_t e)
{
    (void)cudaGetLastError();
    return trs_fail(ctx, TRS_EDEVICE, "merging levels: %s", cudaGetErrorString(e));
}

/* The sums before each of the numbers, in place. */
template <class V> static int add_up(trs_context *ctx, V *a, int64_t count)
{
    size_t bytes = 0;
    cudaError_t e = cub::DeviceScan::ExclusiveSum(NULL, bytes, a, a, count);
    if (e) return failed(ctx, e);
    void *temp = trs_gpu_new(ctx, (int64_t)bytes, 1, "sums");
    if (!temp) return TRS_EMEM;
    e = cub::DeviceScan::ExclusiveSum(temp, bytes, a, a, count);
    trs_gpu_free(ctx, temp);
    return e ? failed(ctx, e) : TRS_OK;
}

/* What a hop is worth on an H200, measured: so many entries, and M b in hops. They are not the machine's costs,
 * because the bits of x go by what is merged. */
static const double ENTRIES = 1e5, LAUNCH = 5, ROWS = 1.2e5;

static double product_hops(double n)
{
    return LAUNCH + n / ROWS;
}

/* What is decided of the levels; arrays on the host, [from.levels]. */
struct decision {
    unsigned char *merged;
    tally *of;
    int32_t *number;
    tally *there; /* of, on the device */
};

static int decision_new(trs_context *ctx, int64_t levels, decision *d)
{
    d->merged = (unsigned char *)trs_new(ctx, levels, 1, "levels");
    if (d->merged) d->of = (tally *)trs_new(ctx, levels, sizeof *d->of, "levels");
    if (d->of) d->number = (int32_t *)trs_new(ctx, levels, sizeof *d->number, "levels");
    if (d->number) d->there = (tally *)trs_gpu_new(ctx, levels, sizeof *d->there, "levels");
    return d->there ? TRS_OK : TRS_EMEM;
}

static void decision_free(trs_context *ctx, decision *d)
{
    trs_free(&ctx->mem, d->merged);
    trs_free(&ctx->mem, d->of);
    trs_free(&ctx->mem, d->number);
    trs_gpu_free(ctx, d->there);
}

/* d->of, were all levels of that kind merged, from every so many-th row. */
static int tally_rows(trs_context *ctx, merging *m, int odd, int every, decision *d)
{
    const int32_t levels = m->from.levels;
    for (int32_t l = 0; l < levels; l++) d->merged[l] = l > 0 && l % 2 == odd;
    const int rc = trs_gpu_put(ctx, m->merged, d->merged, (size_t)levels);
    if (rc) return rc;
    const cudaError_t e = cudaMemset(d->there, 0, (size_t)levels * sizeof *d->there);
    const int64_t rows = (m->from.n + (int64_t)every - 1) / every;
    tally_kernel<<<blocks_of(rows * WARP), THREADS>>>(*m, every, d->there);
    return e ? failed(ctx, e) : trs_gpu_get(ctx, d->of, d->there, (size_t)levels * sizeof *d->of);
}

/* Those levels are merged whose entries cost less than a hop; m->to.levels: how many are left, 0 when all of
 * it is not worth the product. */
static void decide(merging *m, decision *d)
{
    double gain = 0; /* hops */
    m->to.levels = m->from.levels;
    for (int32_t l = 0; l < m->from.levels; l++) {
        const double saved = 1 - (double)d->of[l].adds / ENTRIES;
        if (d->of[l].stay || saved < 0) d->merged[l] = 0;
        if (!d->merged[l]) continue;
        gain += saved;
        m->to.levels--;
    }
    if (gain < product_hops(m->from.n)) m->to.levels = 0;
}

/* How long the rows become, once it is decided. */
static int count(trs_context *ctx, merging *m, const decision *d)
{
    const int32_t n = m->from.n, levels = m->from.levels;
    for (int32_t l = 0, k = -1; l < levels; l++) d->number[l] = d->merged[l] ? k : ++k;
    int32_t *number = (int32_t *)trs_gpu_new(ctx, levels, sizeof *number, "levels");
    if (!number) return TRS_EMEM;
    int rc = trs_gpu_put(ctx, number, d->number, (size_t)levels * sizeof *number);
    if (!rc) rc = trs_gpu_put(ctx, m->merged, d->merged, (size_t)levels);
    if (!rc) {
        count_kernel<<<blocks_of((n + (int64_t)1) * WARP), THREADS>>>(*m);
        level_kernel<<<blocks_of(n), THREADS>>>(*m, number);
        rc = add_up(ctx, m->to_ptr, n + (int64_t)1);
    }
    if (!rc) rc = add_up(ctx, m->ptr, n + (int64_t)1);
    if (!rc) rc = trs_gpu_get(ctx, &m->to.nnz, m->to_ptr + n, sizeof m->to.nnz);
    if (!rc) rc = trs_gpu_get(ctx, &m->nnz, m->ptr + n, sizeof m->nnz);
    trs_gpu_free(ctx, number);
    return rc;
}

static int lines_new(trs_context *ctx, merging *m)
{
    const int64_t n = m->from.n;
    m->to_ptr = (int64_t *)trs_gpu_new(ctx, n + 1, sizeof(int64_t), "row pointers");
    if (m->to_ptr) m->to_level = (int32_t *)trs_gpu_new(ctx, n, sizeof(int32_t), "levels");
    if (m->to_level) m->ptr = (int64_t *)trs_gpu_new(ctx, n + 1, sizeof(int64_t), "row pointers");
    return m->ptr ? TRS_OK : TRS_EMEM;
}

static int entries_new(trs_context *ctx, size_t size, merging *m)
{
    m->to_idx = (int32_t *)trs_gpu_new(ctx, m->to.nnz, sizeof(int32_t), "columns");
    if (m->to_idx) m->val = trs_gpu_new(ctx, m->to.nnz, size, "values");
    if (m->val) m->idx = (int32_t *)trs_gpu_new(ctx, m->nnz, sizeof(int32_t), "columns");
    if (m->idx) m->n_val = trs_gpu_new(ctx, m->nnz, size, "factors");
    return m->n_val ? TRS_OK : TRS_EMEM;
}

static int carry_out(trs_context *ctx, const decision *d, size_t size, merging *m)
{
    int rc = lines_new(ctx, m);
    if (!rc) rc = count(ctx, m, d);
    if (!rc) rc = entries_new(ctx, size, m);
    if (rc) return rc;
    m->to.n = m->from.n;
    m->to.ptr = m->to_ptr;
    m->to.idx = m->to_idx;
    m->to.level = m->to_level;
    fill_kernel<<<blocks_of((int64_t)m->from.n * WARP), THREADS>>>(*m);
    const cudaError_t e = cudaDeviceSynchronize();
    return e ? failed(ctx, e) : TRS_OK;
}

/* Levels l with l % 2 == odd with those before, where that is worth it; m->to.levels is 0 when it is for none.
 * Of a large triangle a sample is asked first. */
static int merge(trs_context *ctx, const trs_pattern *from, int odd, size_t size, merging *m)
{
    enum { FEW = 100000, EVERY = 16 };
    decision d = {};
    m->from = *from;
    m->merged = (unsigned char *)trs_gpu_new(ctx, from->levels, 1, "levels");
    int rc = m->merged ? decision_new(ctx, from->levels, &d) : TRS_EMEM;
    m->to.levels = 1;
    for (int every = from->n > FEW ? EVERY : 1; every && m->to.levels && !rc; every /= EVERY) {
        rc = tally_rows(ctx, m, odd, every, &d);
        if (!rc) decide(m, &d);
    }
    if (!rc && m->to.levels) rc = carry_out(ctx, &d, size, m);
    decision_free(ctx, &d);
    return rc;
}

static void free_pass(trs_context *ctx, merging *m)
{
    void *const all[] = {m->merged, m->to_ptr, m->to_idx, m->to_level,
                         m->val,    m->ptr,    m->idx,    m->n_val};
    for (void *p : all) trs_gpu_free(ctx, p);
    memset(m, 0, sizeof *m);
}

template <class V> static int copy_of(trs_context *ctx, const V *from, int64_t count, V **to)
{
    *to = (V *)trs_gpu_new(ctx, count, sizeof(V), "the triangle");
    if (!*to) return TRS_EMEM;
    const cudaError_t e =
        cudaMemcpy(*to, from, (size_t)count * sizeof(V), cudaMemcpyDeviceToDevice);
    return e ? failed(ctx, e) : TRS_OK;
}

static trs_pattern pattern_of(const trs_part *part)
{
    const merged *d = (const merged *)part->data;
    const trs_tri *t = &part->side->tri;
    return {t->n, part->side->lv.count, t->nnz, d->ptr, d->idx, d->level};
}

static int keep_pattern(trs_part *part)
{
    merged *d = (merged *)part->data;
    const trs_pattern p = trs_pattern_of(part->side);
    int rc = copy_of(part->ctx, p.ptr, (int64_t)p.n + 1, &d->ptr);
    if (!rc) rc = copy_of(part->ctx, p.idx, p.nnz, &d->idx);
    return rc ? rc : copy_of(part->ctx, p.level, p.n, &d->level);
}

/* Passes until two in a row, of both kinds, have merged nothing. */
static int merge_all(trs_part *part, trs_pattern *p)
{
    merged *d = (merged *)part->data;
    const size_t size = trs_size(part->side->tri.dtype);
    int rc = TRS_OK;
    for (int odd = 1, idle = 0; d->passes < PASSES && idle < 2 && !rc; odd = !odd) {
        merging *m = &d->pass[d->passes];
        rc = merge(part->ctx, p, odd, size, m);
        if (!rc && m->to.levels) {
            *p = m->to;
            d->passes++;
            idle = 0;
        } else {
            free_pass(part->ctx, m);
            idle++;
        }
    }
    return rc;
}

static int analyse(trs_part *part)
{
    trs_context *ctx = part->ctx;
    merged *d = (merged *)trs_alloc_zero(&ctx->mem, 1, sizeof *d);
    if (!d) return trs_fail(ctx, TRS_EMEM, "out of memory");
    part->data = d;
    if (part->side->tri.n == 0) return TRS_OK;
    d->growth = (uint64_t *)trs_gpu_new(ctx, PASSES, sizeof *d->growth, "growth");
    int rc = d->growth ? keep_pattern(part) : TRS_EMEM;
    trs_pattern p = pattern_of(part);
    if (!rc) rc = merge_all(part, &p);
    return rc ? rc : dataflow_new(ctx, &p, part->side->tri.dtype, &d->flow);
}

static void release(trs_part *part)
{
    trs_context *ctx = part->ctx;
    merged *d = (merged *)part->data;
    for (int k = 0; k < PASSES; k++) free_pass(ctx, &d->pass[k]);
    dataflow_free(ctx, &d->flow);
    dataflow_free(ctx, &d->plain);
    trs_gpu_free(ctx, d->ptr);
    trs_gpu_free(ctx, d->idx);
    trs_gpu_free(ctx, d->level);
    trs_gpu_free(ctx, d->growth);
    trs_free(&ctx->mem, d);
}

/* T' and M of all passes; waits, for the growth has to be known. */
template <class T> static int take(trs_part *part, const T *val, cudaStream_t stream)
{
    merged *d = (merged *)part->data;
    double largest[PASSES] = {0};
    part->growth = 1;
    cudaError_t e = cudaMemsetAsync(d->growth, 0, sizeof largest, stream);
    for (int k = 0; k < d->passes; k++) {
        merging *m = &d->pass[k];
        values_kernel<T>
            <<<blocks_of((int64_t)m->from.n * WARP), THREADS, 0, stream>>>(*m, val, d->growth + k);
        val = (const T *)m->val;
    }
    if (!e) e = cudaMemcpyAsync(largest, d->growth, sizeof largest, cudaMemcpyDeviceToHost, stream);
    if (!e) e = cudaStreamSynchronize(stream);
    if (e) return failed(part->ctx, e);
    for (int k = 0; k < d->passes; k++) part->growth *= 1 + (largest[k] > 1 ? largest[k] : 1);
    d->too_large = !(part->growth <= GROWTH);
    if (!d->too_large) return dataflow_take(&d->flow, val, stream);
    part->growth = 1;
    return TRS_OK;
}

static int update_direct(trs_part *part, const void *val, void *stream)
{
    merged *d = (merged *)part->data;
    const trs_tri *t = &part->side->tri;
    if (t->n == 0) return TRS_OK;
    int rc = for_type(t->dtype, [&](auto zero) {
        return take(part, (const decltype(zero) *)val, (cudaStream_t)stream);
    });
    if (rc || !d->too_large) return rc;
    const trs_pattern p = pattern_of(part);
    if (!d->plain.inv) rc = dataflow_new(part->ctx, &p, t->dtype, &d->plain);
    return rc ? rc : dataflow_take(&d->plain, val, stream);
}

/* M b, and what cuda-dataflow wants, for T' or for T. */
static int64_t product_bytes(const trs_part *part, int nrhs)
{
    const trs_tri *t = &part->side->tri;
    return ((int64_t)t->n * nrhs * (int64_t)trs_size(t->dtype) + 255) / 256 * 256;
}

static int64_t work_bytes(const trs_part *part, int nrhs)
{
    const merged *d = (const merged *)part->data;
    const trs_tri *t = &part->side->tri;
    int64_t nodes = t->n + t->nnz / TRS_FLOW_PIECE;
    if (nodes < d->flow.flow.nodes) nodes = d->flow.flow.nodes;
    return product_bytes(part, nrhs) + dataflow_work_bytes(nodes, t->n, t->dtype, nrhs);
}

template <class T> static int solve_merged(const trs_part *part, const trs_job *job)
{
    const merged *d = (const merged *)part->data;
    const int32_t n = part->side->tri.n;
    const trs_view product = {job->work, 1, n};
    trs_job next = *job;
    for (int k = 0; k < d->passes; k++) {
        const merging *m = &d->pass[k];
        product_kernel<T><<<blocks_of(n), THREADS, 0, (cudaStream_t)job->stream>>>(
            n, job->nrhs, m->ptr, m->idx, (const T *)m->n_val, job->conj, typed<T>(next.b),
            typed<T>(product));
        next.b = product;
    }
    next.work = (char *)job->work + product_bytes(part, job->nrhs);
    const int rc = launched();
    return rc ? rc : dataflow_solve(&d->flow, &next);
}

static int solve(const trs_part *part, const trs_job *job)
{
    const merged *d = (const merged *)part->data;
    if (part->side->tri.n == 0) return TRS_OK;
    if (d->too_large) return dataflow_solve(&d->plain, job);
    return for_type(part->side->tri.dtype,
                    [&](auto zero) { return solve_merged<decltype(zero)>(part, job); });
}

/* What the passes will probably do: rows of the levels that are merged become twice as long.  Nothing is said
 * for what was not measured: several right-hand sides, long rows. */
static void cost(const trs_shape *s, const trs_machine *m, trs_cost *c)
{
    const double n = (double)s->n;
    double levels = (double)s->levels, length = n > 0 ? (double)s->nnz / n - 1 : 0, products = 0;
    const bool known = s->nrhs == 1 && s->sum_longest < 4 * ROOM * levels;
    for (int k = 0; k < PASSES && known && length <= ROOM / 3; k++) {
        const double product = product_hops(n);
        if (levels / 2 < n / 2 * length / ENTRIES + product) break;
        products += product;
        levels /= 2;
        length *= 1.5;
    }
    trs_shape merged = *s;
    merged.levels = (int64_t)levels;
    merged.nnz = (int64_t)(n * (length + 1));
    trs_solver_dataflow.cost(&merged, m, c);
    c->sync += m->gpu_launch + products * m->gpu_hop;
}

static int64_t bytes(const trs_shape *s)
{
    return 3 * s->nnz * (int64_t)(2 * s->elem + 4) + s->n * (80 + 2 * (int64_t)s->elem);
}

const trs_solver trs_solver_merged = {
    .name = "cuda-merged",
    .about = "pairs of levels made one by substitution, then cuda-dataflow",
    .place = TRS_ON_CUDA,
    .family = TRS_TRIANGLE,
    .caps = TRS_CAP_BITWISE | TRS_CAP_ROW_MAJOR | TRS_CAP_CAPTURE,
    .accuracy = TRS_INVERTING,
    .order = TRS_ORDER_NATURAL,
    .direct = true,
    .cost = cost,
    .bytes = bytes,
    .analyse = analyse,
    .update_direct = update_direct,
    .solve = solve,
    .release = release,
    .work_bytes = work_bytes,
};
