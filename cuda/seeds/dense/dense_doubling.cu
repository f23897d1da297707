/* dense_doubling.cu: GPU Complex 2 without shared memory: doubling.cuh with a thread an element.
 *
 * Each thread owns an element of L, then each block a row of b; every i is a launch, so nothing waits and
 * nothing can hang.  Update: n^3 / 6 products, two reads of L each (hardly cached for large i); solve:
 * elem n^2 / 2 bytes, bound by log2 n launches and their tails. */
#include "config.h"

#include "doubling.cuh"

struct by_elements {
    template <class T> static void step(const pair_data *d, int64_t i, cudaStream_t s)
    {
        double_elements<T>(d, i, s);
    }
};

const trs_solver trs_solver_dense_doubling = {
    .name = "dense-doubling",
    .about = "full triangle, identity blocks double: 2, 4, 8, ... rows (seed, Complex 2)",
    .place = TRS_ON_CUDA,
    .family = TRS_TRIANGLE,
    .caps = TRS_CAP_BITWISE | TRS_CAP_ROW_MAJOR | TRS_CAP_CAPTURE,
    .accuracy = TRS_INVERTING,
    .order = TRS_ORDER_NATURAL,
    .full = true,
    .estimate = doubling_estimate,
    .bytes = device_full_bytes,
    .build = doubling_analyse,
    .update = dense_update<doubled<by_elements>>,
    .solve = doubling_solve,
    .release = pair_release,
};
