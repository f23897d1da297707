/* check.c: is what the caller passed a well-formed matrix?  This is one pass over it before anything else looks at it,
 * so that nothing later can read outside the arrays. */
#include "config.h"

#include "matrix.h"

#include <inttypes.h>

int64_t trs_value_count(const trs_mat *m)
{
    if (m->format == TRS_DENSE) return m->ld * m->n;
    return m->format == TRS_BSR ? m->nnz * m->block * m->block : m->nnz;
}

int64_t trs_extent(const void *p, int64_t n, int nrhs, int64_t ld, trs_layout layout, trs_dtype t)
{
    const bool rows = layout == TRS_ROW_MAJOR;
    const int64_t vectors = rows ? n : nrhs, width = rows ? nrhs : n;
    const int64_t size = (int64_t)trs_size(t), most = (int64_t)1 << 56; /* bytes; addresses end */
    if (!p || ld < width || ld > most / size / vectors) return -1;
    return (ld * (vectors - 1) + width) * size;
}

bool trs_overlap(const void *a, int64_t a_bytes, const void *b, int64_t b_bytes)
{
    return (uintptr_t)a < (uintptr_t)b + (uintptr_t)b_bytes &&
           (uintptr_t)b < (uintptr_t)a + (uintptr_t)a_bytes;
}

int64_t trs_major_count(const trs_mat *m)
{
    return m->format == TRS_BSR ? m->n / m->block : m->n;
}

bool trs_by_rows(const trs_mat *m)
{
    return m->format == TRS_CSR || m->format == TRS_BSR;
}

bool trs_same_arrays(const trs_mat *a, const trs_mat *b)
{
    if (a->n != b->n || a->dtype != b->dtype || a->format != b->format) return false;
    if (a->format == TRS_DENSE) return a->ld == b->ld;
    if (a->format == TRS_BSR && (a->block != b->block || a->block_layout != b->block_layout))
        return false;
    return a->nnz == b->nnz;
}

static int check_blocks(const trs_mat *m)
{
    if (m->block < 1 || m->n % m->block)
        return trs_fail(TRS_EARG, "block = %d does not divide n = %" PRId64, m->block, m->n);
    if ((unsigned)m->block_layout > TRS_ROW_MAJOR)
        return trs_fail(TRS_EARG, "unknown layout of blocks: %d", (int)m->block_layout);
    if (m->nnz > INT64_MAX / 16 / m->block / m->block)
        return trs_fail(TRS_EMATRIX, "nnz = %" PRId64 " blocks of %d x %d are too many", m->nnz,
                        m->block, m->block);
    return TRS_OK;
}

static int check_kind(const trs_mat *m)
{
    const unsigned triangle = m->kind & (TRS_LOWER | TRS_UPPER);
    if (m->kind & ~63u) return trs_fail(TRS_EARG, "unknown bits in kind: %u", m->kind);
    if (m->kind & TRS_PERMUTED && m->kind != TRS_PERMUTED)
        return trs_fail(TRS_EARG,
                        "kind: with TRS_PERMUTED every entry counts, no other bit goes with it");
    if (m->kind & TRS_PERMUTED && m->format == TRS_BSR)
        return trs_fail(TRS_ESUPPORT, "blocks (BSR) are no triangle after permutations");
    if (m->kind & TRS_SELFADJOINT && (!triangle || m->kind & TRS_UNIT))
        return trs_fail(TRS_EARG,
                        "kind: with TRS_SELFADJOINT go TRS_LOWER or TRS_UPPER, and TRS_STRICT");
    if (triangle == (TRS_LOWER | TRS_UPPER))
        return trs_fail(TRS_EARG, "kind has both TRS_LOWER and TRS_UPPER");
    return TRS_OK;
}

/* Is ld such that the size of a full matrix is a number of bytes? */
static int check_leading_dimension(const trs_mat *m)
{
    if (m->ld < m->n)
        return trs_fail(TRS_EARG, "ld = %" PRId64 " is less than n = %" PRId64, m->ld, m->n);
    if (m->n && m->ld > INT64_MAX / 16 / m->n)
        return trs_fail(TRS_EARG, "ld = %" PRId64 " is too large", m->ld);
    return TRS_OK;
}

static bool is_width(int bits)
{
    return bits == 0 || bits == 32 || bits == 64;
}

static int check_entries(const trs_mat *m)
{
    if (m->nnz < 0) return trs_fail(TRS_EARG, "nnz = %" PRId64 " is negative", m->nnz);
    if (!is_width(m->ptr_bits) || !is_width(m->idx_bits))
        return trs_fail(TRS_EARG, "ptr_bits %d, idx_bits %d: 32 or 64 each", m->ptr_bits,
                        m->idx_bits);
    if (m->format == TRS_BSR) {
        const int rc = check_blocks(m);
        if (rc) return rc;
    }
    const int64_t count = trs_major_count(m);
    if (m->nnz <= count * count) return TRS_OK;
    return trs_fail(TRS_EMATRIX, "nnz = %" PRId64 " is more than %" PRId64 " squared", m->nnz,
                    count);
}

static int check_shape(const trs_mat *m)
{
    int rc = TRS_CHECK_RESERVED(m, "trs_mat");
    if (rc) return rc;
    if (m->n < 0 || m->n > INT32_MAX - 1)
        return trs_fail(TRS_EARG, "n = %" PRId64 " is not in 0 .. 2^31 - 2", m->n);
    if ((unsigned)m->dtype > TRS_C32) return trs_fail(TRS_EARG, "unknown dtype %d", m->dtype);
    if (m->format != TRS_CSR && m->format != TRS_CSC && m->format != TRS_DENSE &&
        m->format != TRS_BSR)
        return trs_fail(TRS_EARG, "format %d is not CSR, CSC, BSR or DENSE", (int)m->format);
    rc = check_kind(m);
    if (rc) return rc;
    if (m->base != 0 && m->base != 1) return trs_fail(TRS_EARG, "base %d is not 0 or 1", m->base);
    return m->format == TRS_DENSE ? check_leading_dimension(m) : check_entries(m);
}

int trs_check_values(const trs_mat *m)
{
    int rc = check_shape(m);
    if (rc) return rc;
    int64_t count = m->format == TRS_DENSE ? m->n : m->nnz;
    if (!m->val && count > 0) return trs_fail(TRS_EARG, "val is NULL");
    return TRS_OK;
}

/* Would pointers that were taken for 64 bits make sense as 32 bits?  The array has the bytes of both. */
static bool are_of_32_bits(const trs_mat *m)
{
    const int64_t count = trs_major_count(m);
    int64_t last = m->base;
    for (int64_t i = 0; i <= count; i++) {
        const int64_t next = trs_index(m->ptr, 32, i);
        if (next < last || (i == 0 && next != last)) return false;
        last = next;
    }
    return last - m->base == m->nnz;
}

static int check_order(const trs_mat *m, int bits, const char *major)
{
    int64_t last = trs_index(m->ptr, bits, 0);
    if (last != m->base)
        return trs_fail(TRS_EMATRIX, "ptr[0] = %" PRId64 ", but base is %d", last, m->base);
    for (int64_t i = 0; i < trs_major_count(m); i++) {
        int64_t next = trs_index(m->ptr, bits, i + 1);
        if (next < last || next - m->base > m->nnz)
            return trs_fail(TRS_EMATRIX,
                            "%s %" PRId64 ": its pointers run from %" PRId64 " to %" PRId64
                            ", with nnz = %" PRId64,
                            major, i + m->base, last, next, m->nnz);
        last = next;
    }
    if (last - m->base != m->nnz)
        return trs_fail(TRS_EMATRIX, "ptr[n] = %" PRId64 " does not fit nnz = %" PRId64, last,
                        m->nnz);
    return TRS_OK;
}

static int check_pointers(const trs_mat *m, int bits, const char *major)
{
    const int rc = check_order(m, bits, major);
    if (!rc || bits == 32 || !are_of_32_bits(m)) return rc;
    return trs_fail(rc, "the pointers make sense with 32 bits, not with 64: set ptr_bits = 32");
}

static const char *block_or_nothing(const trs_mat *m)
{
    return m->format == TRS_BSR ? "block " : "";
}

static int refuse_outside(const trs_mat *m, int64_t row, int64_t col)
{
    const char *triangle = m->kind & TRS_LOWER ? "lower" : "upper";
    return trs_fail(TRS_EMATRIX,
                    "%srow %" PRId64 ", column %" PRId64 ": an entry outside the %s triangle",
                    block_or_nothing(m), row + m->base, col + m->base, triangle);
}

/* index: minor, as the caller has it. */
static int refuse_index(const trs_mat *m, int64_t major, int64_t index)
{
    static const char *const name[] = {"column", "row"};
    const bool by_rows = trs_by_rows(m);
    return trs_fail(TRS_EMATRIX, "%s%s %" PRId64 ": %s %" PRId64 " is not in %d .. %" PRId64,
                    block_or_nothing(m), name[by_rows], major + m->base, name[!by_rows], index,
                    m->base, trs_major_count(m) - 1 + m->base);
}

/* Is base <= index < base + count for all indices? */
static bool are_inside(const trs_mat *m, int bits, int64_t count)
{
    const uint64_t base = (uint64_t)m->base, end = (uint64_t)count;
    bool inside = true;
    if (bits == 64)
        for (int64_t p = 0; p < m->nnz; p++)
            inside &= (uint64_t)((const int64_t *)m->idx)[p] - base < end;
    else
        for (int64_t p = 0; p < m->nnz; p++)
            inside &= (uint64_t)((const int32_t *)m->idx)[p] - base < end;
    return inside;
}

/* The pointers are good. */
static int check_indices(const trs_mat *m, int pbits, int ibits)
{
    const bool by_rows = trs_by_rows(m);
    const int64_t count = trs_major_count(m);
    if (!(m->kind & TRS_STRICT) && are_inside(m, ibits, count)) return TRS_OK;
    for (int64_t i = 0; i < count; i++) {
        const int64_t end = trs_index(m->ptr, pbits, i + 1) - m->base;
        for (int64_t p = trs_index(m->ptr, pbits, i) - m->base; p < end; p++) {
            /* compared before the base is subtracted: it may be the least int64_t */
            const int64_t index = trs_index(m->idx, ibits, p);
            if (index < m->base || index >= count + m->base) return refuse_index(m, i, index);
            const int64_t j = index - m->base;
            const int64_t row = by_rows ? i : j, col = by_rows ? j : i;
            if ((m->kind & TRS_STRICT) && !trs_in_triangle(m->kind, row, col))
                return refuse_outside(m, row, col);
        }
    }
    return TRS_OK;
}

bool trs_is_zero(const trs_mat *m, int64_t k)
{
    double z[2];
    trs_number_get(m->val, m->dtype, k, z);
    return z[0] == 0 && z[1] == 0;
}

/* With TRS_STRICT a full matrix must have zeros in the other triangle. */
static int check_full(const trs_mat *m)
{
    if (!(m->kind & TRS_STRICT)) return TRS_OK;
    for (int64_t j = 0; j < m->n; j++)
        for (int64_t i = 0; i < m->n; i++)
            if (!trs_in_triangle(m->kind, i, j) && !trs_is_zero(m, i + j * m->ld))
                return refuse_outside(m, i, j);
    return TRS_OK;
}

int trs_check_arrays(const trs_mat *m)
{
    const int rc = trs_check_values(m);
    if (rc || m->format == TRS_DENSE) return rc;
    if (!m->ptr) return trs_fail(TRS_EARG, "ptr is NULL");
    if (!m->idx && m->nnz > 0) return trs_fail(TRS_EARG, "idx is NULL");
    return TRS_OK;
}

int trs_check_mat(const trs_mat *m)
{
    int rc = trs_check_arrays(m);
    if (rc) return rc;
    if (m->format == TRS_DENSE) return check_full(m);
    int pbits = m->ptr_bits ? m->ptr_bits : 64, ibits = m->idx_bits ? m->idx_bits : 32;
    const char *major = trs_by_rows(m) ? "row" : "column";
    if (m->format == TRS_BSR) major = "row of blocks";
    rc = check_pointers(m, pbits, major);
    if (!rc) rc = check_indices(m, pbits, ibits);
    return rc;
}
