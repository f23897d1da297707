/* fetcher.cuh: the fetcher warps copy halo x from y, where earlier tiles publish them, to their slots.
 *
 * The list of halo entries is taken in batches of 2 WARP entries, the fetchers in turn, two entries a lane.
 *
 * Waits for: the slot of an entry (`free_at` tasks of the tile are done), and then x itself in y.
 * Publishes: x in its slot, which is its own flag.
 *
 * Entries of a batch are waited for side by side, batches one after the other.  Whoever looks in vain is in the way
 * of what is looked for; therefore, after a look that found nothing, only one lane looks: the one whose entry is
 * needed first of those left. */
#ifndef TRS_STRIPS_FETCHER_CUH
#define TRS_STRIPS_FETCHER_CUH

#include "tile.cuh"

struct halo_batch { /* a lane has entries base and base + WARP of the tile */
    trs_halo_entry entry[2];
    bool waiting[2];
};

/* Looks once for what is waited for; true if any came.  Unless all lanes look, only the one that leads does: for its
 * first entry while any lane waits for one (first_left), then for its second. */
template <class T>
__device__ inline bool look(const kernel_args<T> &k, uint32_t slots, int32_t base, int32_t done,
                            bool all, bool leads, unsigned first_left, halo_batch &h)
{
    T v[2];
    bool here[2];
#pragma unroll
    for (int j = 0; j < 2; j++)
        here[j] = h.waiting[j] && h.entry[j].free_at <= done &&
                  (all || (leads && (j == 0) == (first_left != 0))) &&
                  flag_load(k.y + h.entry[j].from, v[j]);
    bool came = false;
#pragma unroll
    for (int j = 0; j < 2; j++)
        if (here[j]) {
            const uint32_t slot = slots + (LOCAL + (base + j * WARP) % HALO) * (uint32_t)sizeof(T);
            TRS_ASSERT(h.entry[j].from >= 0 && h.entry[j].from < k.tasks * WARP);
            TRS_ASSERT(slot_is_empty<T>(slot));
            slot_put(slot, v[j]);
            h.waiting[j] = false;
            came = true;
        }
    return came;
}

/* Until all of a batch has come; done: as many tasks were, when this warp looked last. */
template <class T>
__device__ inline void fetch_batch(const kernel_args<T> &k, tile_memory<T> *m, uint32_t slots,
                                   int32_t base, int32_t &done, halo_batch &h)
{
    const int lane = threadIdx.x % WARP;
    bool all = true;
    for (;;) {
        const unsigned left0 = __ballot_sync(~0u, h.waiting[0]);
        const unsigned left1 = __ballot_sync(~0u, h.waiting[1]);
        const unsigned left = left0 ? left0 : left1;
        if (!left) return;
        if (__any_sync(~0u, (h.waiting[0] && h.entry[0].free_at > done) ||
                                (h.waiting[1] && h.entry[1].free_at > done)))
            done = tasks_done(m->next);
        const bool leads = (left & (0u - left)) >> lane & 1;
        all = __any_sync(~0u, look(k, slots, base, done, all, leads, left0, h));
    }
}

template <class T>
__device__ void fetch(const kernel_args<T> &k, tile_memory<T> *m, int64_t first, int32_t entries)
{
    const int lane = threadIdx.x % WARP, fetcher = threadIdx.x / WARP - CONSUMERS - 1;
    const uint32_t slots = shared_address(m->slot);
    int32_t done = 0;
    /* entries of the batch after this one are read ahead, for they take a while to come */
    trs_halo_entry next[2] = {{0, 0}, {0, 0}};
#pragma unroll
    for (int j = 0; j < 2; j++)
        if ((2 * fetcher + j) * WARP + lane < entries)
            next[j] = k.halo[first + (2 * fetcher + j) * WARP + lane];
    for (int32_t base = 2 * fetcher * WARP + lane; base - lane < entries;
         base += 2 * FETCHERS * WARP) {
        halo_batch h;
#pragma unroll
        for (int j = 0; j < 2; j++) {
            const int32_t after = base + (2 * FETCHERS + j) * WARP;
            h.entry[j] = next[j];
            h.waiting[j] = base + j * WARP < entries;
            if (after < entries) next[j] = k.halo[first + after];
        }
        fetch_batch(k, m, slots, base, done, h);
    }
}

#endif
