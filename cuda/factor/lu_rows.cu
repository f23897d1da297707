/* lu_rows.cu: the rows of L + U of any pattern on the device, by one sort.
 *
 * Each stored entry becomes a key, (row, column), with the place of its value; so does a placeholder for each
 * diagonal entry.  A stable radix sort by the keys orders the rows and puts the caller's entries before the
 * placeholders.  Of two equal keys, the second is dropped if it is a placeholder; otherwise it is an entry given
 * twice.  A prefix sum over the remaining keys gives each entry its place.  Rows and columns, blocks, and unordered
 * entries thus need no separate code.  For A = L L^H the entries above the diagonal are dropped, and those below it
 * are added a second time, mirrored.
 *
 * A thread has an entry, and finds its row by bisection in the pointers, which another kernel checks.
 * Bytes: a pass of the sort reads and writes 16 an entry, and there are 2 log2 (n) / 8 passes; 28 more and some
 * bisections in all other kernels.  Bound by the bandwidth of the sort. */
#include "config.h"

#include "cuda/matrix/source.cuh"
#include "cuda/runtime/sort.cuh"

extern "C" {
#include "elimination/lu_rows.h"
}

#include <cstring>

/* ---- the pattern as keys ------------------------------------------------------------------------ */

struct pattern : source {
    bool by_rows, cholesky;
    const int64_t *src; /* number src [p] of A is number p; NULL: p */
    int bits;           /* of a row or column */

    __device__ uint64_t key(int64_t row, int64_t col) const
    {
        return (uint64_t)row << bits | (uint64_t)col;
    }
    __host__ __device__ uint64_t none() const { return 1ull << 2 * bits; } /* above all keys */
    __host__ __device__ int64_t keys() const { return entries * (cholesky ? 2 : 1) + n; }
};

/* What goes with a key: the place of the value, TRS_SRC_MISSING being 0, and whether it is conjugated. */
static __device__ inline uint64_t code_of(int64_t place, bool mirrored)
{
    return (uint64_t)(place - TRS_SRC_MISSING) << 1 | (mirrored ? 1 : 0);
}
static __device__ inline int64_t place_of(uint64_t code)
{
    return (int64_t)(code >> 1) + TRS_SRC_MISSING;
}

/* A thread a pointer. */
static __global__ void pointers_kernel(const pattern m, unsigned long long *wrong)
{
    long long mine = 0;
    for (int64_t I = index_of_thread(); I <= m.majors; I += all_threads())
        mine += m.is_wrong_pointer(I);
    __syncwarp();
    add_to(wrong, mine);
}

/* The keys of entry p; false: it is no entry. */
static __device__ inline bool put_keys(const pattern &m, int64_t p, uint64_t *key, uint64_t *code)
{
    const int32_t l = m.line_of(p), j = m.minor(p, l);
    const int64_t place = m.src ? m.src[m.value_of(p, l)] : m.value_of(p, l);
    const int32_t row = m.by_rows ? l : j, col = m.by_rows ? j : l;
    const bool good = j >= 0 && place >= TRS_SRC_MISSING;
    const bool kept = good && (!m.cholesky || row >= col);
    key[p] = kept ? m.key(row, col) : m.none();
    code[p] = kept ? code_of(place, false) : 0;
    if (!m.cholesky) return good;
    const bool mirrored = kept && row > col;
    key[m.entries + p] = mirrored ? m.key(col, row) : m.none();
    code[m.entries + p] = mirrored ? code_of(place, true) : 0;
    return good;
}

/* A thread an entry, and one a diagonal entry. */
static __global__ void keys_kernel(const pattern m, uint64_t *key, uint64_t *code,
                                   unsigned long long *wrong)
{
    const int64_t e = index_of_thread();
    long long mine = 0;
    if (e < m.entries) mine = !put_keys(m, e, key, code);
    else if (e < m.entries + m.n) {
        const int64_t i = e - m.entries, slot = m.keys() - m.n + i;
        key[slot] = m.key(i, i);
        code[slot] = code_of(TRS_SRC_MISSING, false);
    }
    __syncwarp();
    add_to(wrong, mine);
}

/* kept [q] = 1 where an entry of the rows is.  A thread a key, in order. */
static __global__ void kept_kernel(const pattern m, const uint64_t *key, const uint64_t *code,
                                   int64_t *kept, unsigned long long *wrong)
{
    long long mine = 0;
    for (int64_t q = index_of_thread(); q < m.keys(); q += all_threads()) {
        const bool entry = key[q] < m.none();
        const bool again = q > 0 && key[q] == key[q - 1];
        kept[q] = entry && !again;
        mine += entry && again && place_of(code[q]) != TRS_SRC_MISSING;
    }
    __syncwarp();
    add_to(wrong, mine);
}

/* ---- keys as rows ------------------------------------------------------------------------------- */

/* place [q] - 1 is where the entry of key q goes, if it is kept.  A thread a key. */
static __global__ void rows_kernel(const pattern m, const uint64_t *key, const uint64_t *code,
                                   const int64_t *place, const trs_lu_rows r)
{
    const int64_t q = index_of_thread();
    if (q == 0) r.ptr[m.n] = r.nnz;
    if (q >= m.keys() || place[q] == (q > 0 ? place[q - 1] : 0)) return;
    const int64_t p = place[q] - 1;
    const int64_t row = (int64_t)(key[q] >> m.bits);
    const int32_t col = (int32_t)(key[q] & ((1ull << m.bits) - 1));
    TRS_ASSERT(p >= 0 && p < r.nnz && row < m.n && col < m.n);
    r.idx[p] = col;
    r.src[p] = place_of(code[q]);
    if (r.conjugate) r.conjugate[p] = code[q] & 1;
    if (col == row) r.diag[row] = p;
    if (p == 0 || (int64_t)(key[q - 1] >> m.bits) != row) r.ptr[row] = p;
}

/* Lp [i + 1] = the entries of row i of L.  A thread a row. */
static __global__ void lengths_kernel(const trs_lu_rows r)
{
    const int32_t i = index32_of_thread();
    if (i == 0) r.Lp[0] = 0;
    if (i < r.n) r.Lp[i + 1] = r.diag[i] - r.ptr[i] + 1;
}

/* Entries of L left of the diagonal are counted by Lp, so those of U are what is left. */
static __device__ inline int64_t start_of_u(const trs_lu_rows &r, int64_t i)
{
    return r.ptr[i] - (r.Lp[i] - i);
}

static __global__ void starts_kernel(const trs_lu_rows r)
{
    const int64_t i = index_of_thread();
    if (i <= r.n) r.Up[i] = start_of_u(r, i);
}

/* A thread an entry of L + U. */
static __global__ void apart_kernel(const trs_lu_rows r)
{
    const int64_t p = index_of_thread();
    if (p >= r.nnz) return;
    const int64_t i = last_up_to(r.n, p, [&](int64_t k) { return r.ptr[k]; });
    const int64_t l = r.Lp[i] + (p - r.ptr[i]), u = start_of_u(r, i) + (p - r.diag[i]);
    const bool lower = r.cholesky ? p <= r.diag[i] : p < r.diag[i];
    if (p <= r.diag[i]) r.Li[l] = r.idx[p];
    if (!r.cholesky && !lower) r.Ui[u] = r.idx[p];
    if (lower) r.to[p] = l;
    else r.to[p] = r.cholesky ? -1 : r.first_u + u;
}

/* ---- memory, and all of it ---------------------------------------------------------------------- */

struct sorting { /* scratch on the device */
    int64_t keys;
    uint64_t *key[2], *code[2];
    int64_t *kept;
    unsigned long long *wrong;
    sort_temp temp;
};

static int sort(sorting &w, const pattern &m)
{
    return sort_in_place(w.temp, w.key, w.code, w.keys, 2 * m.bits + 1);
}

static int scratch_for(trs_context *ctx, const pattern &m, sorting *w)
{
    *w = {.keys = m.keys()};
    int rc = sort(*w, m);
    if (!rc) rc = sum_up_to(w->temp, w->kept, w->keys);
    if (!rc) rc = sum_up_to(w->temp, w->kept, m.n);
    if (rc) return rc;
    void *const base = carve_scratch(ctx, "the rows of L + U", [&](carver &carve) {
        for (int k = 0; k < 2; k++) carve(w->key[k], w->keys), carve(w->code[k], w->keys);
        carve(w->kept, w->keys);
        carve(w->wrong, 1);
        carve(w->temp.p, (int64_t)w->temp.bytes);
    });
    return base ? TRS_OK : TRS_EMEM;
}

/* What was copied to the device, and is to be freed. */
struct copies {
    char *ptr, *idx;
    int64_t *src;
};

/* The pattern of m, whose arrays are copied to the device if they are on the host. */
static int pattern_of(trs_context *ctx, const trs_mat *m, const int64_t *src, bool cholesky,
                      copies *c, pattern *p)
{
    *p = {source_of(m), trs_by_rows(m), cholesky, src, 1};
    while (p->n - 1 >> p->bits) p->bits++;
    if (m->device > 0) return TRS_OK;
    const int64_t ptr_bytes = ((int64_t)p->majors + 1) * (p->wide_ptr ? 8 : 4);
    const int64_t idx_bytes = p->blocks * (p->wide_idx ? 8 : 4);
    p->ptr = c->ptr = device_copy(ctx, (const char *)m->ptr, ptr_bytes, "pointers");
    p->idx = c->idx = c->ptr ? device_copy(ctx, (const char *)m->idx, idx_bytes, "indices") : NULL;
    if (c->idx && src) p->src = c->src = device_copy(ctx, src, m->nnz, "places of the values");
    return c->idx && (c->src || !src) ? TRS_OK : TRS_EMEM;
}

static int rows_new(trs_context *ctx, trs_lu_rows *r)
{
    r->block = carve_new(ctx, "the rows of L + U", [&](carver &carve) {
        carve(r->ptr, (int64_t)r->n + 1);
        carve(r->diag, r->n);
        carve(r->Lp, (int64_t)r->n + 1);
        carve(r->idx, r->nnz);
        carve(r->src, r->nnz);
        carve(r->to, r->nnz);
        if (r->cholesky) carve(r->conjugate, r->nnz);
    });
    return r->block ? TRS_OK : TRS_EMEM;
}

static int triangles_new(trs_context *ctx, trs_lu_rows *r)
{
    r->apart = carve_new(ctx, "the patterns of L and U", [&](carver &carve) {
        carve(r->Li, r->nnz_l);
        if (!r->cholesky) carve(r->Up, (int64_t)r->n + 1), carve(r->Ui, r->nnz_u);
    });
    return r->apart ? TRS_OK : TRS_EMEM;
}

/* Sort the keys, and count the entries that are kept. */
static int sort_keys(trs_context *ctx, const pattern &m, sorting *w, int64_t *kept)
{
    unsigned long long wrong = 0;
    cudaMemsetAsync(w->wrong, 0, sizeof wrong, NULL);
    pointers_kernel<<<few_blocks(m.majors + 1), PLAIN>>>(m, w->wrong);
    keys_kernel<<<blocks_of(m.entries + m.n), PLAIN>>>(m, w->key[0], w->code[0], w->wrong);
    int rc = sort(*w, m);
    kept_kernel<<<few_blocks(w->keys), PLAIN>>>(m, w->key[0], w->code[0], w->kept, w->wrong);
    if (!rc) rc = sum_up_to(w->temp, w->kept, w->keys);
    if (!rc) rc = trs_gpu_get(ctx, &wrong, w->wrong, sizeof wrong);
    if (!rc) rc = trs_gpu_get(ctx, kept, w->kept + w->keys - 1, sizeof *kept);
    if (rc) return rc;
    TRS_ASSERT(wrong || (m.n <= *kept && *kept <= w->keys));
    return wrong ? TRS_EMATRIX : TRS_OK;
}

/* The pattern of L and that of U, and where the values of each entry go. */
static int part_rows(trs_context *ctx, sorting &w, trs_lu_rows *r)
{
    lengths_kernel<<<blocks_of(r->n), PLAIN>>>(*r);
    int rc = sum_up_to(w.temp, r->Lp + 1, r->n);
    if (rc) return rc;
    rc = trs_gpu_get(ctx, &r->nnz_l, r->Lp + r->n, sizeof r->nnz_l);
    r->nnz_u = r->cholesky ? 0 : r->nnz - r->nnz_l + r->n;
    r->first_u = (r->nnz_l + 63) / 64 * 64; /* a multiple of 256 bytes */
    TRS_ASSERT(rc || (r->n <= r->nnz_l && r->nnz_l <= r->nnz));
    if (!rc) rc = triangles_new(ctx, r);
    if (rc) return rc;
    if (!r->cholesky) starts_kernel<<<blocks_of((int64_t)r->n + 1), PLAIN>>>(*r);
    apart_kernel<<<blocks_of(r->nnz), PLAIN>>>(*r);
    return launched();
}

static int make_rows(trs_context *ctx, const pattern &m, trs_lu_rows *r)
{
    sorting w;
    int rc = scratch_for(ctx, m, &w);
    if (!rc) rc = sort_keys(ctx, m, &w, &r->nnz);
    if (!rc) rc = rows_new(ctx, r);
    if (rc) return rc;
    rows_kernel<<<blocks_of(w.keys), PLAIN>>>(m, w.key[0], w.code[0], w.kept, *r);
    rc = part_rows(ctx, w, r);
    if (rc) return rc;
    return trs_gpu_wait(NULL); /* the scratch memory is not ours any more */
}

int trs_gpu_lu_rows(trs_context *ctx, const trs_mat *m, const int64_t *src, bool cholesky,
                    trs_lu_rows *rows)
{
    copies c = {};
    pattern p;
    *rows = {.n = (int32_t)m->n, .cholesky = cholesky};
    int rc = trs_gpu_use(ctx);
    if (!rc) rc = pattern_of(ctx, m, src, cholesky, &c, &p);
    if (!rc) rc = make_rows(ctx, p, rows);
    device_free(ctx, c.ptr, c.idx, c.src);
    if (rc) trs_gpu_lu_rows_free(ctx, rows);
    return rc;
}

void trs_gpu_lu_rows_join(trs_context *ctx, trs_lu_rows *rows)
{
    trs_gpu_free(ctx, rows->apart);
    rows->apart = NULL;
    rows->Up = NULL, rows->Li = rows->Ui = NULL;
}

void trs_gpu_lu_rows_free(trs_context *ctx, trs_lu_rows *rows)
{
    trs_gpu_lu_rows_join(ctx, rows);
    trs_gpu_free(ctx, rows->block);
    memset(rows, 0, sizeof *rows);
}
