/* multiblock.cu: a launch a level, a block of threads a row, a thread an entry.
 * Source: slides "GPU-accelerated sparse triangular solver", pages "CSR with Multiblock" and "Pseudocode":
 *
 *     for each level:  dimGrid = rows of the level, dimBlock = entries of its longest row
 *         kernel:      S[t] = L(i, j) x(j);  sum of S by halving;
 *                      the thread of the diagonal: x(i) = (b(i) - S[0]) / L(i, i)
 *
 * The page does not cover rows longer than a block may be; here each thread then takes several entries.  A block has
 * at least one warp.
 *
 * A row belongs to one block of one launch.  x becomes visible to the next level because launches in a stream follow
 * one another.  Nothing waits inside a kernel: it cannot hang.
 * Bytes: 12 nnz + 24 n.  The time is that of a launch, four dependent loads, a reduction and a division a
 * level, unless a level has some ten thousand rows. */
#include "config.h"

#include "base/debug.h"
#include "cuda/runtime/cuda.cuh"

enum { WARP = 32, LONGEST_BLOCK = 512 };

struct multiblock {
    int32_t *topo; /* on the device */
    int *threads;  /* [levels] on the host: of a block of each level */
};

template <class T>
static __global__ void level_kernel(const int32_t *topo, const int64_t *Lp, const int32_t *Li,
                                    const T *Lx, view<T> b, view<T> x, bool cj)
{
    T *s = shared_numbers<T>();
    const int32_t i = topo[blockIdx.x];
    const int r = blockIdx.y, t = threadIdx.x;
    const int64_t begin = Lp[i], diagonal = Lp[i + 1] - 1;
    T sum = number<T>(0);
    for (int64_t p = begin + t; p < diagonal; p += blockDim.x)
        sum = sum + conj_if(cj, Lx[p]) * x(Li[p], r);
    s[t] = sum;
    __syncthreads();
    block_sum(s, diagonal - begin < blockDim.x ? int(diagonal - begin) : int(blockDim.x));
    if (t == int((diagonal - begin) % blockDim.x)) {
        T rest = diagonal > begin ? b(i, r) - s[0] : b(i, r);
        x(i, r) = rest / conj_if(cj, Lx[diagonal]);
    }
}

static void release(trs_instance *inst)
{
    multiblock *d = (multiblock *)inst->data;
    trs_gpu_free(inst->ctx, d->topo);
    trs_free(&inst->ctx->mem, d->threads);
    trs_free(&inst->ctx->mem, d);
}

/* Threads for the longest row of level l: a multiple of a warp. */
static int threads_of(const trs_instance *inst, int32_t l)
{
    const trs_levels *lv = &inst->op->lv;
    const int64_t *Lp = inst->op->tri.ptr;
    int64_t longest = 1;
    TRS_ASSERT(lv->ptr[l] < lv->ptr[l + 1]);
    for (int32_t k = lv->ptr[l]; k < lv->ptr[l + 1]; k++) {
        int64_t length = Lp[lv->topo[k] + 1] - Lp[lv->topo[k]];
        if (length > longest) longest = length;
    }
    if (longest > LONGEST_BLOCK) return LONGEST_BLOCK;
    return int(longest + WARP - 1) / WARP * WARP;
}

static int build(trs_instance *inst)
{
    trs_context *ctx = inst->ctx;
    multiblock *d = data_new<multiblock>(ctx, &inst->data);
    if (!d) return TRS_EMEM;
    int rc = trs_operator_host(inst->op, TRS_OP_PATTERN | TRS_OP_LEVELS);
    if (!rc) rc = trs_operator_device(inst->op, TRS_OP_PATTERN);
    if (rc) return rc;
    trs_operator_hold(inst->op, TRS_OP_PATTERN | TRS_OP_VALUES);
    d->topo = device_copy(ctx, inst->op->lv.topo, inst->op->tri.n, "topo");
    d->threads = (int *)trs_new(ctx, inst->op->lv.count, sizeof *d->threads, "sizes of blocks");
    if (!d->topo || !d->threads) return TRS_EMEM;
    for (int32_t l = 0; l < inst->op->lv.count; l++) d->threads[l] = threads_of(inst, l);
    return TRS_OK;
}

template <class T>
static int solve_levels(const trs_instance *inst, const trs_job *job, int first, int count)
{
    const multiblock *d = (const multiblock *)inst->data;
    const trs_device_view *L = &inst->op->device;
    const int32_t *lv = inst->op->lv.ptr;
    const view<T> b = from_column(typed<T>(job->b), first),
                  x = from_column(typed<T>(job->x), first);
    for (int32_t l = 0; l < inst->op->lv.count; l++) {
        const dim3 grid((unsigned)(lv[l + 1] - lv[l]), (unsigned)count);
        level_kernel<T>
            <<<grid, d->threads[l], d->threads[l] * sizeof(T), (cudaStream_t)job->stream>>>(
                d->topo + lv[l], L->ptr, L->idx, (const T *)L->val, b, x, job->conj);
    }
    return launched();
}

static int solve(const trs_instance *inst, const trs_job *job)
{
    return for_type(inst->op->tri.dtype, [&]<class T>(T) {
        return for_columns(job->nrhs, [&](int first, int count) {
            return solve_levels<T>(inst, job, first, count);
        });
    });
}

static const char *estimate(const trs_prospect *p, const trs_instance *, const trs_machine *m,
                            trs_cost *c)
{
    const trs_shape *s = &p->shape;
    double entry = (s->elem + 4) * m->gpu_byte + m->gpu_gather;
    double row = (12 + 3 * s->elem) * m->gpu_byte + m->multiblock_row;
    c->bytes = ((double)s->nnz * entry + (double)s->n * row) * s->nrhs;
    c->sync = (double)s->levels * m->gpu_launch;
    c->latency = (double)s->levels * m->multiblock_level;
    return NULL;
}

static int64_t bytes(const trs_prospect *p)
{
    const trs_shape *s = &p->shape;
    return s->nnz * (int64_t)(s->elem + 4) + 12 * (s->n + 1);
}

const trs_solver trs_solver_multiblock = {
    .name = "cuda-multiblock",
    .about = "CSR, a launch a level, a block a row, a thread a nonzero (baseline)",
    .place = TRS_ON_CUDA,
    .family = TRS_TRIANGLE,
    .caps = TRS_CAP_BITWISE | TRS_CAP_ROW_MAJOR | TRS_CAP_CAPTURE,
    .accuracy = TRS_SUBSTITUTION,
    .order = TRS_ORDER_NATURAL,
    .by_columns = true,
    .refreshes = true,
    .estimate = estimate,
    .bytes = bytes,
    .build = build,
    .solve = solve,
    .release = release,
};
