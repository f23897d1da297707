/* two.c: milliseconds of solves on one device, and on two of them, for the tables of doc/scale.md.
 *
 *     make tests/peers/two && tests/peers/two grid7:100,1 grid7:200,1 grid7:200,32
 *
 * An argument is a problem of trisolve-gen, or a file in its binary form, whose lower triangle is solved with, a number of
 * columns, and T for the transpose.  Each line of the output is a plan: what the library chooses for one device; cuda-peers
 * with one part, and with two, with B and X on device 0 and split by rows; cuda-subtrees; and what it chooses for two.  Those
 * that are not for the problem have no line.  Times are medians by events on a stream of device 0; `error` is the
 * largest difference of x from that of the first plan, over 1 + |x|. */
#include "config.h"

#include "bin/common/binary.h"
#include "bin/common/problems/problems.h"
#include "split.h"
#include "tests/common/report.h"
#include "trisolve-sparse.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { TIMES = 21, WARM = 3 };

typedef struct problem {
    const char *name;
    trs_mm mm;
    trs_mat L;
    int columns;
    trs_op op;
    size_t bytes; /* of B, or X */
    double *b, *x, *first;
} problem;

static void need(int rc, const char *what)
{
    if (!rc) return;
    fprintf(stderr, "%s: %d %s\n", what, rc, trs_message());
    exit(1);
}

static void need_cuda(cudaError_t e, const char *what)
{
    need((int)e, what);
}

static int by_size(const void *a, const void *b)
{
    const float x = *(const float *)a, y = *(const float *)b;
    return (x > y) - (x < y);
}

/* Bytes that are in use on a device. */
static double used(int device)
{
    size_t room = 0, all = 0;
    need_cuda(cudaSetDevice(device), "device");
    need_cuda(cudaMemGetInfo(&room, &all), "memory");
    need_cuda(cudaSetDevice(0), "device");
    return (double)(all - room);
}

/* The median, and the x of the last solve. */
static float time_solves(const trs_plan *p, problem *q, const void *b, void *x)
{
    float ms[TIMES];
    cudaStream_t s;
    cudaEvent_t begin, end;
    trs_work *work;
    need(trs_work_create(&work, p, q->columns), "work space");
    need_cuda(cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking), "stream");
    need_cuda(cudaEventCreate(&begin), "event");
    need_cuda(cudaEventCreate(&end), "event");
    const trs_exec exec = {.stream = s, .work = work};
    for (int k = 0; k < WARM + TIMES; k++) {
        need_cuda(cudaEventRecord(begin, s), "record");
        need(trs_solve(p, q->op, q->columns, b, q->L.n, x, q->L.n, &exec), "solve");
        need_cuda(cudaEventRecord(end, s), "record");
        need_cuda(cudaEventSynchronize(end), "solve");
        if (k >= WARM) need_cuda(cudaEventElapsedTime(&ms[k - WARM], begin, end), "time");
    }
    need_cuda(cudaMemcpy(q->x, x, q->bytes, cudaMemcpyDefault), "x");
    qsort(ms, TIMES, sizeof *ms, by_size);
    cudaEventDestroy(begin), cudaEventDestroy(end), cudaStreamDestroy(s);
    trs_work_destroy(work);
    return ms[TIMES / 2];
}

static double difference(const problem *q)
{
    double most = 0;
    for (int64_t i = 0; i < q->L.n * q->columns; i++)
        most = larger(most, fabs(q->x[i] - q->first[i]) / (1 + fabs(q->first[i])));
    return most;
}

/* Returns the time, or 0 where a split was wanted and could not be made, or the solver is not for the problem. */
static float one_plan(problem *q, const char *where, trs_options opt, float one)
{
    const bool splits = *where == 's';
    split b = {0, 0}, x = {0, 0};
    void *at_b, *at_x;
    trs_plan *p;
    trs_info info;
    const double used0 = used(0), used1 = opt.device_count > 1 ? used(1) : 0;
    opt.device = TRS_CUDA(0), opt.nrhs = q->columns, opt.solves = TRS_SOLVES_MANY;
    opt.ops = 1u << q->op;
    need(trs_plan_create(&p, &q->L, &opt), "create");
    const int rc = trs_plan_analyse(p);
    if (rc == TRS_ESUPPORT) return trs_plan_destroy(p), 0;
    need(rc, "analyse");
    const double more0 = used(0) - used0, more1 = opt.device_count > 1 ? used(1) - used1 : 0;
    if (splits) {
        b = split_new(q->bytes, q->bytes / 2), x = split_new(q->bytes, q->bytes / 2);
        if (!b.p || !x.p) return trs_plan_destroy(p), 0;
        at_b = (void *)b.p, at_x = (void *)x.p;
    } else {
        need_cuda(cudaMalloc(&at_b, q->bytes), "B");
        need_cuda(cudaMalloc(&at_x, q->bytes), "X");
    }
    need_cuda(cudaMemcpy(at_b, q->b, q->bytes, cudaMemcpyDefault), "B");
    const float ms = time_solves(p, q, at_b, at_x);
    if (one == 0) memcpy(q->first, q->x, q->bytes);
    need(trs_plan_info(p, &info), "info");
    printf("%s%s,%lld,%d,%s,%lld,%s,%.4f,%.3f,%.2f,%.2f,%.1e\n", q->name, q->op ? " T" : "",
           (long long)info.levels, q->columns, info.solver,
           (long long)(opt.device_count ? opt.device_count : 1), where, ms, one > 0 ? one / ms : 1.,
           more0 / 1e9, more1 / 1e9, difference(q));
    fprintf(stderr, "%s: %s\n", where, info.reason);
    fflush(stdout);
    if (splits) split_free(&b), split_free(&x);
    else cudaFree(at_b), cudaFree(at_x);
    trs_plan_destroy(p);
    return ms;
}

static void one_problem(char *name)
{
    static const int both[] = {TRS_CUDA(0), TRS_CUDA(1)};
    problem q = {.name = name, .columns = 1};
    char *comma = strchr(name, ',');
    if (comma)
        *comma = 0, q.columns = atoi(comma + 1), q.op = strchr(comma + 1, 'T') ? TRS_T : TRS_N;
    need(binary_is(name) ? binary_read(name, 0, &q.mm) : problem_named(name, &q.mm), name);
    q.L = (trs_mat){.n = q.mm.rows,
                    .nnz = q.mm.nnz,
                    .ptr = q.mm.ptr,
                    .idx = q.mm.idx,
                    .val = q.mm.val,
                    .base = q.mm.base,
                    .kind = TRS_LOWER};
    q.bytes = (size_t)q.L.n * (size_t)q.columns * sizeof(double);
    q.b = malloc(q.bytes), q.x = malloc(q.bytes), q.first = malloc(q.bytes);
    if (!q.b || !q.x || !q.first) exit(1);
    for (int64_t i = 0; i < q.L.n * q.columns; i++) q.b[i] = 1 + (double)(i * 7919 % 1000) / 1000;
    const float one = one_plan(&q, "first", (trs_options){0}, 0);
    trs_options opt = {.solver = "cuda-peers", .devices = both, .device_count = 1};
    one_plan(&q, "first", opt, one);
    opt.device_count = 2;
    one_plan(&q, "first", opt, one);
    if (q.columns == 1) one_plan(&q, "split", opt, one);
    opt.solver = "cuda-subtrees";
    one_plan(&q, "first", opt, one);
    opt.solver = NULL;
    one_plan(&q, "chosen", opt, one);
    free(q.b), free(q.x), free(q.first);
    trs_mm_free(&q.mm);
}

int main(int argc, char **argv)
{
    int count = 0;
    if (cudaGetDeviceCount(&count) || count < 2) return fprintf(stderr, "no two devices\n"), 77;
    printf("problem,levels,columns,solver,gpus,b_and_x,ms,gain,gb_0,gb_1,error\n");
    for (int k = 1; k < argc; k++) one_problem(argv[k]);
    return 0;
}
