/* fuzz_mm.c: any bytes are read as a Matrix Market file (libFuzzer).
 *
 * The bytes are a file in memory (/proc/self/fd), so that gzip, xz, zstd and tar are fuzzed as well.  The last byte chooses
 * the options, too.  What is accepted must be a well-formed matrix, the same one for one thread and for two, and the same
 * after it was written and read again.
 *
 * .ci/run builds the program with clang and runs it for a minute.  Any files may serve as seeds:
 *     ./fuzz_mm CORPUS mm-conformance/open */
#include "config.h"

#include "trisolve-sparse.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static void must(bool good, const char *what)
{
    if (good) return;
    fprintf(stderr, "broken: %s\n", what);
    abort();
}

static int memory_file(const uint8_t *p, size_t n, char path[40])
{
    int fd = memfd_create("fuzz", 0);
    must(fd >= 0 && write(fd, p, n) == (ssize_t)n, "memfd");
    lseek(fd, 0, SEEK_SET);
    snprintf(path, 40, "/proc/self/fd/%d", fd);
    return fd;
}

/* Pointers ascend from the base to the end, and minor indices ascend within each major index and are in range. */
static void check_indices(const trs_mm *mm, int64_t majors, int64_t minors)
{
    must(mm->ptr[0] == mm->base && mm->ptr[majors] == mm->nnz + mm->base, "pointers");
    for (int64_t i = 0; i < majors; i++) {
        must(mm->ptr[i] <= mm->ptr[i + 1], "pointers ascend");
        for (int64_t p = mm->ptr[i] - mm->base; p < mm->ptr[i + 1] - mm->base; p++) {
            int64_t j = mm->idx[p] - mm->base;
            must(j >= 0 && j < minors, "range of an index");
            must(p == mm->ptr[i] - mm->base || mm->idx[p] > mm->idx[p - 1], "indices ascend");
        }
    }
}

static void check(const trs_mm *mm)
{
    must(mm->rows >= 0 && mm->cols >= 0 && mm->nnz >= 0 && mm->val != NULL, "sizes");
    if (mm->format == TRS_CSR) check_indices(mm, mm->rows, mm->cols);
    if (mm->format == TRS_CSC) check_indices(mm, mm->cols, mm->rows);
}

static size_t value_bytes(const trs_mm *mm)
{
    int64_t n = mm->format == TRS_DENSE ? mm->rows * mm->cols : mm->nnz;
    return (size_t)n * (mm->dtype == TRS_C64 ? 16 : 8);
}

static void check_equal(const trs_mm *a, const trs_mm *b)
{
    must(a->nnz == b->nnz && a->rows == b->rows && a->cols == b->cols && a->format == b->format,
         "sizes");
    must(!memcmp(a->val, b->val, value_bytes(a)), "values");
    must(!a->idx || !memcmp(a->idx, b->idx, (size_t)a->nnz * 4), "indices");
}

/* There are nans of many bits, but only one is written. */
static bool has_nan(const trs_mm *mm)
{
    const double *val = mm->val;
    for (size_t k = 0; k < value_bytes(mm) / 8; k++)
        if (val[k] != val[k]) return true;
    return false;
}

static void write_and_read(const trs_mm *mm, const trs_mm_options *opt)
{
    char path[] = "/tmp/fuzz_mm.XXXXXX";
    trs_mm again;
    trs_mat mat;
    bool counts_less =
        mm->format == TRS_DENSE && mm->symmetry == TRS_SKEW; /* nnz is without the diagonal */
    if (trs_mm_mat(mm, 0, &mat) || mm->rows > 1000 || has_nan(mm) || counts_less) return;
    const int fd = mkstemp(path);
    must(fd >= 0, "a temporary file");
    close(fd);
    must(trs_mm_write(path, &mat, mm->rows, mm->cols, TRS_GENERAL, NULL) == TRS_OK, "write");
    must(trs_mm_read(path, opt, &again) == TRS_OK, "read again");
    check_equal(mm, &again);
    trs_mm_free(&again);
    unlink(path);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 1) return 0;
    static const trs_format format[] = {TRS_CSR, TRS_CSC, TRS_COO, TRS_CSR};
    const uint8_t how = data[size - 1];
    trs_mm_options opt = {.format = format[how & 3],
                          .base = how >> 2 & 1,
                          .refuse_duplicates = how >> 3 & 1,
                          .threads = 1,
                          .memory_limit = 16 << 20};
    char path[40];
    trs_mm one, two;
    int fd = memory_file(data, size, path), rc = trs_mm_read(path, &opt, &one);
    must((rc == TRS_OK) == (trs_message()[0] == '\0'), "a sentence if and only if it failed");
    opt.threads = 2;
    must(trs_mm_read(path, &opt, &two) == rc, "threads agree");
    if (rc) must(!strcmp(trs_message(), trs_message()), "threads say the same");
    if (!rc) {
        check(&one);
        check_equal(&one, &two);
        if (opt.base == 0) write_and_read(&one, &opt);
    }
    trs_mm_free(&one);
    trs_mm_free(&two);
    close(fd);
    return 0;
}
