/* 03_stream_and_graph.c: a solve that only enqueues work, captured once and replayed.
 *
 * With B and X on the device trs_solve neither allocates nor waits, so that a CUDA graph can hold it: the
 * launches of all levels become one.  What a solve changes is in a trs_work; give each stream its own.
 * Only the CUDA runtime's C interface is used, no CUDA compiler.  Exit status 77: no GPU here. */
#include <trisolve-sparse.h>

#include <cuda_runtime_api.h>
#include <math.h>
#include <stdio.h>

enum { EDGE = 60, N = EDGE * EDGE, REPLAYS = 10 };

/* The lower triangle of the five-point Laplacian on a square. */
static trs_mat grid(void)
{
    static int64_t ptr[N + 1];
    static int32_t idx[3 * N];
    static double val[3 * N];
    for (int i = 0; i < N; i++) {
        int64_t p = ptr[i];
        if (i >= EDGE) idx[p] = i - EDGE, val[p++] = -1;
        if (i % EDGE) idx[p] = i - 1, val[p++] = -1;
        idx[p] = i, val[p++] = 4;
        ptr[i + 1] = p;
    }
    return (trs_mat){.n = N, .nnz = ptr[N], .ptr = ptr, .idx = idx, .val = val, .kind = TRS_LOWER};
}

static int capture(const trs_plan *plan, const trs_exec *exec, const double *b, double *x,
                   cudaGraphExec_t *graph)
{
    cudaGraph_t recorded;
    if (cudaStreamBeginCapture(exec->stream, cudaStreamCaptureModeGlobal)) return TRS_EDEVICE;
    int rc = trs_solve(plan, TRS_N, 1, b, N, x, N, exec);
    if (cudaStreamEndCapture(exec->stream, &recorded)) return TRS_EDEVICE;
    if (!rc && cudaGraphInstantiateWithFlags(graph, recorded, 0)) rc = TRS_EDEVICE;
    cudaGraphDestroy(recorded);
    return rc;
}

/* New values in b, the same graph; *worst: the largest error. */
static int replay(const trs_mat *L, const trs_exec *exec, cudaGraphExec_t graph, double *b,
                  double *x, double *worst)
{
    static double exact[N], host_b[N], host_x[N];
    cudaStream_t stream = exec->stream;
    for (int k = 0; k < REPLAYS; k++) {
        for (int i = 0; i < N; i++) exact[i] = sin(i * (k + 1));
        trs_multiply(L, TRS_N, 1, exact, N, host_b, N, TRS_COL_MAJOR);
        cudaMemcpyAsync(b, host_b, sizeof host_b, cudaMemcpyHostToDevice, stream);
        if (cudaGraphLaunch(graph, stream)) return TRS_EDEVICE;
        cudaMemcpyAsync(host_x, x, sizeof host_x, cudaMemcpyDeviceToHost, stream);
        if (cudaStreamSynchronize(stream)) return TRS_EDEVICE;
        for (int i = 0; i < N; i++) *worst = fmax(*worst, fabs(host_x[i] - exact[i]));
    }
    return TRS_OK;
}

int main(void)
{
    const size_t bytes = N * sizeof(double);
    char name[200];
    if (trs_device_name(TRS_CUDA(0), name, sizeof name)) return printf("no GPU: %s\n", name), 77;

    const trs_mat L = grid();
    const trs_options options = {.device = TRS_CUDA(0), .solver = "cuda-multiblock"};
    trs_plan *plan;
    trs_exec exec = {0};
    cudaStream_t stream;
    cudaGraphExec_t graph = NULL;
    double *b = NULL, *x = NULL, worst = 0;
    int rc = trs_plan_create(&plan, &L, &options);
    if (!rc) rc = trs_plan_analyse(plan);
    if (!rc) rc = trs_work_create(&exec.work, plan, 1);
    if (rc) return fprintf(stderr, "%s\n", trs_message()), 1;
    if (cudaStreamCreate(&stream) || cudaMalloc((void **)&b, bytes) ||
        cudaMalloc((void **)&x, bytes))
        return fprintf(stderr, "CUDA: no stream or memory\n"), 1;
    exec.stream = stream;
    cudaMemset(b, 0, bytes);
    rc = trs_solve(plan, TRS_N, 1, b, N, x, N, &exec); /* the first one loads the kernels */
    if (!rc) rc = capture(plan, &exec, b, x, &graph);
    if (!rc) rc = replay(&L, &exec, graph, b, x, &worst);
    printf("%s: %d replays, largest error %.2g\n", name, REPLAYS, worst);
    if (rc) fprintf(stderr, "%s\n", trs_strerror(rc));
    if (graph) cudaGraphExecDestroy(graph);
    cudaFree(b), cudaFree(x);
    trs_work_destroy(exec.work);
    trs_plan_destroy(plan);
    cudaStreamDestroy(stream);
    return rc || !(worst < 1e-13);
}
