/* sort.cu: sorts and prefix sums of whole arrays, by CUB. */
#include "config.h"

#include "sort.cuh"

#include <cub/device/device_radix_sort.cuh>
#include <cub/device/device_scan.cuh>
#include <cuda/functional>

/* Calls f (temp.p, bytes) in the two ways that CUB has: without memory it returns the bytes that it needs. */
template <class F> static int run(sort_temp &t, F f)
{
    size_t bytes = t.bytes;
    const cudaError_t e = f(t.p, bytes);
    if (!t.p && bytes > t.bytes) t.bytes = bytes;
    return cuda_status(e, "a sort or a sum on the device");
}

/* CUB has code of its own for counts of 32 bits. */
template <class V> using count_for = std::conditional_t<sizeof(V) == 4, uint32_t, int64_t>;

template <class K, class V>
int sort_words(sort_temp &t, K *(&key)[2], V *(&value)[2], int64_t count, int bits, bool in_place,
               cudaStream_t stream)
{
    const count_for<V> pairs = (count_for<V>)count;
    cub::DoubleBuffer<K> keys(key[0], key[1]);
    cub::DoubleBuffer<V> values(value[0], value[1]);
    TRS_ASSERT(count >= 0 && (int64_t)pairs == count);
    TRS_ASSERT(0 < bits && bits <= 8 * (int)sizeof(K));
    const int rc = run(t, [&](void *temp, size_t &bytes) {
        if (in_place)
            return cub::DeviceRadixSort::SortPairs(temp, bytes, keys, values, pairs, 0, bits,
                                                   stream);
        return cub::DeviceRadixSort::SortPairs(temp, bytes, (const K *)key[0], key[1],
                                               (const V *)value[0], value[1], pairs, 0, bits,
                                               stream);
    });
    if (in_place) {
        key[0] = keys.Current(), key[1] = keys.Alternate();
        value[0] = values.Current(), value[1] = values.Alternate();
    }
    return rc;
}

template int sort_words(sort_temp &, uint32_t *(&)[2], uint32_t *(&)[2], int64_t, int, bool,
                        cudaStream_t);
template int sort_words(sort_temp &, uint32_t *(&)[2], uint64_t *(&)[2], int64_t, int, bool,
                        cudaStream_t);
template int sort_words(sort_temp &, uint64_t *(&)[2], uint32_t *(&)[2], int64_t, int, bool,
                        cudaStream_t);
template int sort_words(sort_temp &, uint64_t *(&)[2], uint64_t *(&)[2], int64_t, int, bool,
                        cudaStream_t);

template <class A, class S>
static int exclusive_sum(sort_temp &t, const A *a, S *sum, int64_t count)
{
    const count_for<S> terms = (count_for<S>)count;
    TRS_ASSERT(count >= 0 && (int64_t)terms == count);
    return run(t, [&](void *temp, size_t &bytes) {
        return cub::DeviceScan::ExclusiveScan(temp, bytes, a, sum, cuda::std::plus<>(), (S)0,
                                              terms);
    });
}

int sum_before(sort_temp &t, const int32_t *a, int32_t *sum, int64_t count)
{
    return exclusive_sum(t, a, sum, count);
}

int sum_before(sort_temp &t, const int32_t *a, int64_t *sum, int64_t count)
{
    return exclusive_sum(t, a, sum, count);
}

int sum_before(sort_temp &t, const int64_t *a, int64_t *sum, int64_t count)
{
    return exclusive_sum(t, a, sum, count);
}

int sum_before(sort_temp &t, const uint8_t *a, int32_t *sum, int64_t count)
{
    return exclusive_sum(t, a, sum, count);
}

int sum_before(sort_temp &t, const uint8_t *a, int64_t *sum, int64_t count)
{
    return exclusive_sum(t, a, sum, count);
}

template <class A> static int inclusive_sum(sort_temp &t, A *a, int64_t count)
{
    const count_for<A> terms = (count_for<A>)count;
    TRS_ASSERT(count >= 0 && (int64_t)terms == count);
    return run(t, [&](void *temp, size_t &bytes) {
        return cub::DeviceScan::InclusiveSum(temp, bytes, a, a, terms);
    });
}

int sum_up_to(sort_temp &t, int32_t *a, int64_t count)
{
    return inclusive_sum(t, a, count);
}

int sum_up_to(sort_temp &t, int64_t *a, int64_t count)
{
    return inclusive_sum(t, a, count);
}

int largest_up_to(sort_temp &t, const int32_t *a, int32_t *largest, int64_t count)
{
    return run(t, [&](void *temp, size_t &bytes) {
        return cub::DeviceScan::InclusiveScan(temp, bytes, a, largest, cuda::maximum<int32_t>(),
                                              count);
    });
}
