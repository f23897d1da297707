/* sort.cuh: sorts and prefix sums of whole arrays on the device.
 *
 * CUB computes them.  Its headers take longer to compile than most of our files, so only sort.cu includes them. */
#ifndef TRS_SORT_CUH
#define TRS_SORT_CUH

#include "device.cuh"

#include <type_traits>

/* Temporary memory of the functions below.  While p is NULL, they only raise `bytes` to the number they need, and look at
 * no array.  A caller therefore calls them once before it allocates the memory, and once more with it. */
struct sort_temp {
    void *p;
    size_t bytes;
};

/* Every function enqueues work, and returns TRS_OK, or TRS_EDEVICE with a sentence. */

/* ---- sorts of pairs by their keys ------------------------------------------------------------------ */

template <class K> using sort_word = std::conditional_t<sizeof(K) == 4, uint32_t, uint64_t>;

/* Of unsigned keys and values.  in_place: the result is in key[0] and value[0], and the memory of all four arrays is
 * overwritten.  Otherwise the first arrays are only read, and the result is in the second ones. */
template <class K, class V>
int sort_words(sort_temp &t, K *(&key)[2], V *(&value)[2], int64_t count, int bits, bool in_place,
               cudaStream_t stream);

/* A stable sort by the lowest `bits` bits of the keys, which are not negative.  Values of 4 bytes are indices, so there
 * are fewer than 2^32 pairs. */
template <class K, class V>
inline int sort_pairs(sort_temp &t, const K *key, K *sorted_key, const V *value, V *sorted_value,
                      int64_t count, int bits, cudaStream_t stream = NULL)
{
    sort_word<K> *keys[2] = {(sort_word<K> *)key, (sort_word<K> *)sorted_key};
    sort_word<V> *values[2] = {(sort_word<V> *)value, (sort_word<V> *)sorted_value};
    return sort_words(t, keys, values, count, bits, false, stream);
}

/* The same from key[0] and value[0]; the pointers are swapped so that the result is there. */
template <class K, class V>
inline int sort_in_place(sort_temp &t, K *(&key)[2], V *(&value)[2], int64_t count, int bits)
{
    sort_word<K> *keys[2] = {(sort_word<K> *)key[0], (sort_word<K> *)key[1]};
    sort_word<V> *values[2] = {(sort_word<V> *)value[0], (sort_word<V> *)value[1]};
    const int rc = sort_words(t, keys, values, count, bits, true, NULL);
    for (int k = 0; k < 2; k++) key[k] = (K *)keys[k], value[k] = (V *)values[k];
    return rc;
}

/* ---- prefix sums ----------------------------------------------------------------------------------- */

/* sum [k] = a [0] + ... + a [k-1].  Both arrays may be the same one.  Sums of 4 bytes have fewer than 2^32 terms. */
int sum_before(sort_temp &t, const int32_t *a, int32_t *sum, int64_t count);
int sum_before(sort_temp &t, const int32_t *a, int64_t *sum, int64_t count);
int sum_before(sort_temp &t, const int64_t *a, int64_t *sum, int64_t count);
int sum_before(sort_temp &t, const uint8_t *a, int32_t *sum, int64_t count);
int sum_before(sort_temp &t, const uint8_t *a, int64_t *sum, int64_t count);

/* a [k] becomes a [0] + ... + a [k]. */
int sum_up_to(sort_temp &t, int32_t *a, int64_t count);
int sum_up_to(sort_temp &t, int64_t *a, int64_t count);

/* largest [k] = max (a [0], ..., a [k]).  Both arrays may be the same one. */
int largest_up_to(sort_temp &t, const int32_t *a, int32_t *largest, int64_t count);

#endif
