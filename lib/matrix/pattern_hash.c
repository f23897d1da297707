/* pattern_hash.c: the hash of a pattern, by the threads of the host or by the device. */
#include "config.h"

#include "base/debug.h"
#include "base/parallel.h"
#include "on_device.h"
#include "pattern_hash.h"

enum { RANGE = 1 << 16 }; /* entries that a thread takes at a time */

typedef struct hashing {
    const int32_t *idx;
    _Atomic uint64_t sum;
} hashing;

static void hash_range(void *user, int64_t begin, int64_t end)
{
    hashing *h = user;
    uint64_t sum = 0;
    for (int64_t p = begin; p < end; p++) sum += trs_hash_entry(p, h->idx[p]);
    h->sum += sum;
}

int trs_pattern_hash(const trs_operator *op, uint64_t *hash)
{
    hashing h = {.idx = op->tri.idx};
    TRS_ASSERT(!op->perm);
    if (!(op->on_host & TRS_OP_PATTERN)) return trs_gpu_hash(op, hash);
    trs_share(trs_team(op->ctx, op->tri.nnz), op->tri.nnz, RANGE, hash_range, &h);
    *hash = h.sum;
    return TRS_OK;
}
