/* dense_doubling.cu: identity blocks on the diagonal double (doubling.cuh), a thread an element of L.
 * Source: "Dense Lower Triangular Solver", section "GPU Complex 2".
 *
 * In an update a thread owns an element of L, in a solve a block of threads owns a row of b.  Every doubling is a
 * launch.  Nothing waits inside a launch, so it cannot hang.  An update multiplies n^3 / 6 times, with two reads of L
 * each; caches hardly help these for large blocks.  A solve reads elem n^2 / 2 bytes; its time is that of log2 n
 * launches and of their last blocks of threads. */
#include "config.h"

#include "doubling.cuh"

struct by_elements {
    template <class T> static void step(const pair_data *d, int64_t i, cudaStream_t s)
    {
        double_elements<T>(d, i, s);
    }
};

constinit const trs_solver trs_solver_dense_doubling = doubling_solver<by_elements>(
    "dense-doubling",
    "full triangle, identity blocks double: 2, 4, 8, ... rows (baseline, Complex 2)");
