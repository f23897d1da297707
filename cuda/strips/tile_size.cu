/* tile_size.cu: how many rows a row tile of cuda-strips should have, as an analysis of an operator.
 *
 * Samples of the rows are looked at for tiles of growing size (trs_strips_sampled): where pattern and levels are on the
 * device, there, for several sizes in one call, since a call costs more than a look at small tiles does; else on the
 * host. */
#include "config.h"

#include "cuda/runtime/cuda.cuh"

extern "C" {
#include "strips.h"
}

#include <cstring>

enum { LOOKS = 16 /* sizes at a time */ };

struct sampling {
    int32_t n, levels;
    int32_t rows[LOOKS];
    const int64_t *Lp;
    const int32_t *Li, *level;
    unsigned *stamp; /* [TRS_STRIP_SAMPLES][levels] bit k: met by sample with rows [k] */
    unsigned long long (*found)[2]; /* [LOOKS] */
};

/* Entries of row i in columns before from, which ascend: rows may be long. */
static __device__ int64_t entries_before(const sampling &s, int64_t i, int32_t from)
{
    const int64_t begin = s.Lp[i];
    int64_t low = begin, high = s.Lp[i + 1] - 1;
    while (low < high) {
        const int64_t middle = low + (high - low) / 2;
        if (s.Li[middle] < from) low = middle + 1;
        else high = middle;
    }
    return low - begin;
}

/* The block of threads (x, y, z) looks at some of the rows of sample y, for tiles of s.rows [z] rows. */
static __global__ void look_kernel(const sampling s)
{
    const int32_t rows = s.rows[blockIdx.z];
    const int32_t from = (int32_t)((int64_t)(s.n - rows) * (blockIdx.y + 1) / TRS_STRIP_SAMPLES);
    const unsigned bit = 1u << blockIdx.z;
    unsigned *stamp = s.stamp + (int64_t)blockIdx.y * s.levels;
    long long levels = 0, halo = 0;
    for (int64_t i = from + index_of_thread(); i < from + (int64_t)rows; i += all_threads()) {
        unsigned *seen = &stamp[s.level[i]];
        if (!(*seen & bit)) levels += !(atomicOr(seen, bit) & bit);
        halo += entries_before(s, i, from);
    }
    __syncwarp();
    add_to(&s.found[blockIdx.z][0], levels);
    add_to(&s.found[blockIdx.z][1], halo);
}

/* See trs_strips_sampled. */
static bool look(void *user, const int32_t *rows, int count, int64_t (*found)[2])
{
    const trs_operator *op = (const trs_operator *)user;
    sampling all = {.n = op->tri.n,
                    .levels = op->lv.count,
                    .Lp = op->device.ptr,
                    .Li = op->device.idx,
                    .level = op->device.level};
    const auto lay_out = [&](carver &carve) {
        carve(all.found, LOOKS);
        carve(all.stamp, (int64_t)TRS_STRIP_SAMPLES * all.levels);
    };
    const size_t bytes = carved_bytes(lay_out);
    void *base = carve_scratch(op->ctx, "samples", lay_out);
    if (!base) return false;
    memcpy(all.rows, rows, (size_t)count * sizeof *rows);
    cudaMemsetAsync(base, 0, bytes, NULL);
    look_kernel<<<dim3(few_blocks(rows[count - 1]), TRS_STRIP_SAMPLES, (unsigned)count), PLAIN>>>(
        all);
    return !trs_gpu_get(op->ctx, found, all.found, (size_t)count * sizeof *found);
}

/* ---- the analysis ------------------------------------------------------------------------------------ */

enum { ANY_ROWS = 4096 /* of a tile, where nothing speaks for any number */ };

static int32_t sample_on_device(trs_operator *op)
{
    if (!trs_strips_possible(&op->tri, &op->lv)) return 0;
    return trs_strips_sampled(op->tri.n, LOOKS, look, op);
}

static int make(trs_operator *op, bool needed, void *result, bool *found)
{
    const unsigned both = TRS_OP_PATTERN | TRS_OP_LEVELS;
    trs_strips_size *size = (trs_strips_size *)result;
    if ((op->on_device & both) == both) size->rows = sample_on_device(op);
    else size->rows = trs_strips_rows(op->ctx, &op->tri, &op->lv);
    if (!size->rows && needed) size->rows = ANY_ROWS;
    if (size->rows) size->tiles = (op->tri.n - 1) / size->rows + 1;
    *found = size->rows > 0;
    return TRS_OK;
}

static void scale(const void *whole, double share, void *part)
{
    *(trs_strips_size *)part = *(const trs_strips_size *)whole;
    ((trs_strips_size *)part)->tiles =
        (int64_t)((double)((const trs_strips_size *)whole)->tiles * share);
}

const trs_analysis trs_strips_analysis = {.name = "the size of row tiles",
                                          .size = sizeof(trs_strips_size),
                                          .make = make,
                                          .trim = NULL,
                                          .scale = scale};
