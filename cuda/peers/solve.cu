/* solve.cu: a solve by all parts, in the order of the caller's stream, and where B and X are meanwhile.
 *
 *     caller's stream, device 0   begun .. y = 0xff ...... go . part 0 .......................... x of part 1
 *                                    |              ^       |                                     ^
 *     stream of device 1             +- y = 0xff ---+       +- part 1 (waits for numbers of 0) ---+
 *     copies for it, device 0        +- b of part 1 ----------^
 *
 * ready: the flags of a device are cleared.  go: those of all devices are, so from here on any part may store into the y of
 * any other, and no kernel that waits for numbers runs before the kernels that send them can (part.cu).
 *
 * B and X.  A device uses its rows in place if they are in its own memory, where the caller has split a range of addresses
 * over devices.  Otherwise its rows of B are copied before its kernel begins.  Its numbers of x it stores in a mirror on the
 * first device, in the order of its nodes, as they are computed, so that whole lines go over the link; in the end the first
 * device puts them in order.  In the order of rows, x is complete only in the last part of a solve: for a grid of N^3
 * points, row (N, N, z) has level 2 N + z of 3 N.
 * Copies and the last step are the first device's, since memory of a pool can be accessed by no other.
 *
 * A work space takes 8 nodes bytes on each device in fp64, and 16 n more for rows that are not the first device's. */
#include "config.h"

#include "parts.cuh"

#include <mutex>

/* ---- access ------------------------------------------------------------------------------------------------------------- */

/* Peer access is enabled once in a process, and stays. */
static int connect(int from, int to)
{
    enum { KEPT = 64 };
    static bool connected[KEPT][KEPT];
    static std::mutex lock;
    const std::lock_guard<std::mutex> guard(lock);
    const bool keep = from < KEPT && to < KEPT;
    int can = 0;
    if (keep && connected[from][to]) return TRS_OK;
    cudaError_t e = cudaDeviceCanAccessPeer(&can, from, to);
    if (!e && !can)
        return trs_fail(TRS_ESUPPORT, "device %d cannot access the memory of device %d", from, to);
    if (!e) e = set_device(from);
    if (!e) e = cudaDeviceEnablePeerAccess(to, 0);
    if (e == cudaErrorPeerAccessAlreadyEnabled) { /* by the caller */
        (void)cudaGetLastError();
        e = cudaSuccess;
    }
    if (keep && !e) connected[from][to] = true;
    return cuda_status(e, "peer access");
}

int peers_connect(const peers_data *d)
{
    int rc = TRS_OK;
    for (int p = 0; p < d->parts; p++)
        for (int q = 0; q < d->parts && !rc; q++) {
            const int from = d->part[p].ctx.device, to = d->part[q].ctx.device;
            if (from != to) rc = connect(from, to);
        }
    return rc;
}

/* ---- the work space ----------------------------------------------------------------------------------------------------- */

struct peer_lane { /* a part in a work space */
    trs_context ctx;
    /* in the lane of its home: a stream of its device, NULL: the caller's; and one of the first device, for copies */
    cudaStream_t stream, copies;
    cudaEvent_t ready, copied, ended;
    void *memory, *y, *b;
    void *mirror; /* [nodes] on the first device, unless the part is there */
};

struct peers_work {
    int parts;
    cudaEvent_t begun, go; /* of the first device */
    trs_context ctx;       /* its */
    peer_lane of[TRS_MOST_DEVICES];
};

static cudaError_t new_event(cudaEvent_t *event)
{
    return cudaEventCreateWithFlags(event, cudaEventDisableTiming);
}

static cudaError_t new_streams(const peers_work *w, peer_lane *l)
{
    cudaError_t e = cudaStreamCreateWithFlags(&l->stream, cudaStreamNonBlocking);
    if (!e) e = new_event(&l->ready);
    if (!e) e = new_event(&l->ended);
    if (!e) e = set_device(w->ctx.device);
    if (!e) e = cudaStreamCreateWithFlags(&l->copies, cudaStreamNonBlocking);
    if (!e) e = new_event(&l->copied);
    return e;
}

static int new_lane(const peers_data *d, int p, peers_work *w, peer_lane *l)
{
    const peer_part *part = &d->part[p];
    const int64_t size = (int64_t)trs_size(d->dtype), flags = part->flow.nodes * size;
    const bool first_device = part->home == 0;
    l->ctx = part->ctx;
    int rc = trs_gpu_use(&l->ctx);
    if (rc) return rc;
    l->memory = carve_new(&l->ctx, "a work space", [&](carver &carve) {
        carve(l->y, flags);
        carve(l->b, first_device ? 0 : part->rows * size);
    });
    if (!l->memory) return TRS_EMEM;
    if (first_device) return TRS_OK;
    rc = trs_gpu_use(&w->ctx);
    l->mirror = trs_gpu_new(&w->ctx, flags, 1, "a work space");
    if (rc || !l->mirror) return rc ? rc : TRS_EMEM;
    if (part->home != p) return TRS_OK;
    rc = trs_gpu_use(&l->ctx);
    if (rc) return rc;
    return cuda_status(new_streams(w, l), "a stream of another device");
}

static int fill_work(const peers_data *d, trs_context *ctx, peers_work *w)
{
    w->ctx = d->part[0].ctx;
    cudaError_t e = new_event(&w->begun);
    if (!e) e = new_event(&w->go);
    int rc = cuda_status(e, "events");
    for (w->parts = 0; w->parts < d->parts && !rc; w->parts++)
        rc = new_lane(d, w->parts, w, &w->of[w->parts]);
    const int back = trs_gpu_use(ctx);
    return rc ? rc : back;
}

int peers_work_create(const trs_instance *inst, trs_context *ctx, int, void **work)
{
    peers_work *w = data_new<peers_work>(ctx, work);
    if (!w) return TRS_EMEM;
    return fill_work((const peers_data *)inst->data, ctx, w);
}

static void free_lane(peer_lane *l)
{
    cudaEvent_t const events[] = {l->ready, l->copied, l->ended};
    cudaStream_t const streams[] = {l->stream, l->copies};
    if (trs_gpu_use(&l->ctx)) trs_forget();
    for (cudaStream_t stream : streams)
        if (stream) (void)cuda_failed(cudaStreamDestroy(stream));
    for (cudaEvent_t event : events)
        if (event) (void)cuda_failed(cudaEventDestroy(event));
    trs_gpu_free(&l->ctx, l->memory);
}

void peers_work_destroy(trs_context *ctx, void *work)
{
    peers_work *w = (peers_work *)work;
    for (int p = 0; p < w->parts; p++) free_lane(&w->of[p]);
    if (trs_gpu_use(ctx)) trs_forget();
    for (int p = 0; p < w->parts; p++) trs_gpu_free(&w->ctx, w->of[p].mirror);
    if (w->begun) (void)cuda_failed(cudaEventDestroy(w->begun));
    if (w->go) (void)cuda_failed(cudaEventDestroy(w->go));
    trs_free(&ctx->mem, w);
}

/* ---- one right-hand side ------------------------------------------------------------------------------------------------- */

struct peer_run {
    const peers_data *d;
    peers_work *w;
    size_t size; /* of a number */
    trs_view b, x;
    bool conj;
    cudaStream_t caller;

    cudaStream_t stream(int p) const
    {
        const peer_lane &l = w->of[d->part[p].home];
        return l.stream ? l.stream : caller;
    }
    /* Does part p begin the stream of a device other than the first? */
    bool leads(int p) const { return w->of[p].stream != NULL; }
};

/* B or X from the first row of the part on. */
static trs_view from_row(const peer_run *r, trs_view v, int p)
{
    v.p = (char *)v.p + r->d->part[p].begin * v.rs * (int64_t)r->size;
    return v;
}

/* Where the rows of the part begin in memory: the view may go backwards. */
static char *lowest(const peer_run *r, trs_view v, int p)
{
    const int64_t last = r->d->part[p].rows - 1;
    return (char *)v.p + (v.rs < 0 ? last * v.rs * (int64_t)r->size : 0);
}

/* The same rows in memory of the part's own, in the same direction. */
static trs_view copied(const peer_run *r, trs_view v, int p, void *own)
{
    const int64_t last = r->d->part[p].rows - 1;
    v.p = (char *)own + (v.rs < 0 ? last * (int64_t)r->size : 0);
    return v;
}

/* Are the rows of the part, of B or X, in memory of its device?  The row in the middle tells: where a range of addresses is
 * split, its pieces begin at pages, not at rows. */
static bool is_near(const peer_run *r, trs_view v, int p)
{
    const peer_part *part = &r->d->part[p];
    const void *middle = (char *)v.p + part->rows / 2 * v.rs * (int64_t)r->size;
    cudaPointerAttributes a;
    if (part->home == 0 || cuda_failed(cudaPointerGetAttributes(&a, middle))) return true;
    return a.type != cudaMemoryTypeDevice || a.device == part->ctx.device;
}

/* The caller's stream may be the default one, which is that of the current device. */
static int use_first(const peer_run *r)
{
    return trs_gpu_use(&r->w->of[0].ctx);
}

/* Sets all bits of y of a part, after what the caller has enqueued. */
static int clear_part(const peer_run *r, int p)
{
    peer_lane *l = &r->w->of[p];
    const int rc = trs_gpu_use(&l->ctx);
    if (rc) return rc;
    const size_t bytes = (size_t)r->d->part[p].flow.nodes * r->size;
    cudaError_t e = cudaSuccess;
    if (r->leads(p)) e = cudaStreamWaitEvent(l->stream, r->w->begun, 0);
    if (!e && bytes) e = cudaMemsetAsync(l->y, 0xff, bytes, r->stream(p));
    return cuda_status(e, "flags of x");
}

/* The caller's stream waits for what is in the streams of all other devices. */
static cudaError_t gather(const peer_run *r, cudaEvent_t peer_lane::*event)
{
    cudaError_t e = cudaSuccess;
    for (int p = 0; p < r->w->parts && !e; p++) {
        const peer_lane *l = &r->w->of[p];
        if (!r->leads(p)) continue;
        e = cudaEventRecord(l->*event, l->stream);
        if (!e) e = cudaStreamWaitEvent(r->caller, l->*event, 0);
    }
    return e;
}

/* The flags of all parts, and then go. */
static int clear(const peer_run *r)
{
    int rc = use_first(r);
    if (!rc) rc = cuda_status(cudaEventRecord(r->w->begun, r->caller), "cuda-peers");
    for (int p = 0; p < r->w->parts && !rc; p++) rc = clear_part(r, p);
    if (!rc) rc = use_first(r);
    if (rc) return rc;
    cudaError_t e = gather(r, &peer_lane::ready);
    if (!e) e = cudaEventRecord(r->w->go, r->caller);
    return cuda_status(e, "cuda-peers");
}

/* Brings the part's rows of B to its device, while flags are cleared. */
static int bring(const peer_run *r, int p, part_job *job)
{
    const peer_lane *l = &r->w->of[p], *home = &r->w->of[r->d->part[p].home];
    const trs_view b = from_row(r, r->b, p);
    const size_t bytes = (size_t)r->d->part[p].rows * r->size;
    job->b = b;
    if (is_near(r, b, p)) return TRS_OK;
    job->b = copied(r, b, p, l->b);
    cudaError_t e = cudaStreamWaitEvent(home->copies, r->w->begun, 0);
    if (!e) e = cudaMemcpyAsync(l->b, lowest(r, b, p), bytes, cudaMemcpyDefault, home->copies);
    if (!e) e = cudaEventRecord(home->copied, home->copies);
    if (!e) e = cudaStreamWaitEvent(home->stream, home->copied, 0);
    return cuda_status(e, "B of another device");
}

/* Solves for the rows of the part. */
static int solve_part(const peer_run *r, int p, part_job *job)
{
    const peer_part *part = &r->d->part[p];
    peer_lane *l = &r->w->of[p];
    int rc = trs_gpu_use(&l->ctx);
    if (!rc && r->leads(p)) rc = cuda_status(cudaStreamWaitEvent(l->stream, r->w->go, 0), "go");
    if (rc || part->rows == 0) return rc;
    job->x = from_row(r, r->x, p);
    if (!is_near(r, job->x, p)) job->mirror = l->mirror;
    job->y = l->y;
    job->conj = r->conj;
    job->stream = r->stream(p);
    for (int q = 0; q < r->d->parts; q++) job->there[q] = r->w->of[q].y;
    return part_solve(part, r->d->dtype, job);
}

/* Puts x of the part where the caller wants it, after all parts have ended. */
static int pass_part(const peer_run *r, int p, part_job *job)
{
    if (!job->mirror) return TRS_OK;
    job->stream = r->caller;
    return part_pass(&r->d->part[p], r->d->dtype, job);
}

/* After a failure, too, what was enqueued is before what the caller enqueues next. */
static int solve_column(const peer_run *r)
{
    part_job job[TRS_MOST_DEVICES] = {};
    int rc = clear(r);
    for (int p = 0; p < r->d->parts && !rc; p++)
        if (r->d->part[p].rows) rc = bring(r, p, &job[p]);
    for (int p = 0; p < r->d->parts && !rc; p++) rc = solve_part(r, p, &job[p]);
    const int first = use_first(r);
    const cudaError_t ended = gather(r, &peer_lane::ended);
    if (!rc) rc = first;
    if (!rc) rc = cuda_status(ended, "cuda-peers");
    for (int p = 0; p < r->d->parts && !rc; p++) rc = pass_part(r, p, &job[p]);
    return rc;
}

int peers_solve(const trs_instance *inst, const trs_job *job)
{
    const peers_data *d = (const peers_data *)inst->data;
    peer_run r = {d,         (peers_work *)job->work,  trs_size(d->dtype), job->b, job->x,
                  job->conj, (cudaStream_t)job->stream};
    int rc = TRS_OK;
    TRS_ASSERT((job->b.rs == 1 || job->b.rs == -1) && job->b.rs == job->x.rs);
    for (int k = 0; k < job->nrhs && !rc; k++) {
        r.b.p = (char *)job->b.p + k * job->b.cs * (int64_t)r.size;
        r.x.p = (char *)job->x.p + k * job->x.cs * (int64_t)r.size;
        rc = solve_column(&r);
    }
    return rc;
}
