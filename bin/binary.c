/* binary.c: triangles in a file as they stand in memory, for sizes at which text is too slow. */
#include "config.h"

#include "problems.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char magic[8] = "TRISOLV1";

typedef struct header {
    char magic[8];
    int64_t n, nnz;
} header;

int binary_is(const char *file)
{
    char start[sizeof magic];
    FILE *f = fopen(file, "rb");
    if (!f) return 0;
    int is = fread(start, sizeof start, 1, f) == 1 && !memcmp(start, magic, sizeof magic);
    fclose(f);
    return is;
}

static int refuse(trs_mm *mm, int code, const char *file, const char *what)
{
    snprintf(mm->message, sizeof mm->message, "%.200s: %s", file, what);
    return code;
}

/* Does the file hold exactly what the header promises? */
static int check_size(FILE *f, const header *h)
{
    if (h->n < 0 || h->n >= INT32_MAX || h->nnz < 0 || h->nnz > INT64_MAX / 16) return 0;
    int64_t want = (int64_t)sizeof *h + 8 * (h->n + 1) + 12 * h->nnz;
    return !fseeko(f, 0, SEEK_END) && (int64_t)ftello(f) == want && !fseeko(f, sizeof *h, SEEK_SET);
}

static int check_arrays(const trs_mm *mm)
{
    if (mm->ptr[0] != 0 || mm->ptr[mm->rows] != mm->nnz) return 0;
    for (int64_t i = 0; i < mm->rows; i++) {
        if (mm->ptr[i + 1] < mm->ptr[i] || mm->ptr[i + 1] > mm->nnz) return 0;
        for (int64_t p = mm->ptr[i]; p < mm->ptr[i + 1]; p++)
            if (mm->idx[p] < 0 || mm->idx[p] >= mm->cols) return 0;
    }
    return 1;
}

static void rebase(trs_mm *mm, int base)
{
    mm->base = base;
    for (int64_t i = 0; i <= mm->rows && base; i++) mm->ptr[i] += base;
    for (int64_t p = 0; p < mm->nnz && base; p++) mm->idx[p] += base;
}

int binary_read(const char *file, int base, trs_mm *mm)
{
    header h;
    *mm = (trs_mm){.format = TRS_CSR, .dtype = TRS_F64, .field = TRS_REAL, .symmetry = TRS_GENERAL};
    FILE *f = fopen(file, "rb");
    if (!f) return refuse(mm, TRS_EFILE, file, strerror(errno));
    int rc = TRS_OK;
    if (fread(&h, sizeof h, 1, f) != 1 || memcmp(h.magic, magic, sizeof magic) ||
        !check_size(f, &h))
        rc = refuse(mm, TRS_EFORMAT, file, "not a complete binary triangle");
    if (!rc) {
        mm->rows = mm->cols = h.n;
        mm->nnz = mm->stored = h.nnz;
        mm->ptr = malloc(((size_t)h.n + 1) * sizeof *mm->ptr);
        mm->idx = malloc((size_t)h.nnz * sizeof *mm->idx + 1);
        mm->val = malloc((size_t)h.nnz * sizeof(double) + 1);
        if (!mm->ptr || !mm->idx || !mm->val) rc = refuse(mm, TRS_EMEM, file, "out of memory");
    }
    if (!rc && (fread(mm->ptr, 8, (size_t)h.n + 1, f) != (size_t)h.n + 1 ||
                fread(mm->idx, 4, (size_t)h.nnz, f) != (size_t)h.nnz ||
                fread(mm->val, 8, (size_t)h.nnz, f) != (size_t)h.nnz))
        rc = refuse(mm, TRS_EFILE, file, "cannot be read");
    if (!rc && !check_arrays(mm))
        rc = refuse(mm, TRS_EFORMAT, file, "its pointers or columns are out of range");
    if (!rc) rebase(mm, base);
    fclose(f);
    return rc;
}

int binary_write(const char *file, const trs_mm *mm, char *message, size_t size)
{
    header h = {.n = mm->rows, .nnz = mm->nnz};
    char name[4096];
    memcpy(h.magic, magic, sizeof magic);
    if (snprintf(name, sizeof name, "%s.%ld.tmp", file, (long)getpid()) >= (int)sizeof name)
        return TRS_EARG;
    FILE *f = fopen(name, "wb");
    int good = f && fwrite(&h, sizeof h, 1, f) == 1 &&
               fwrite(mm->ptr, 8, (size_t)h.n + 1, f) == (size_t)h.n + 1 &&
               fwrite(mm->idx, 4, (size_t)h.nnz, f) == (size_t)h.nnz &&
               fwrite(mm->val, 8, (size_t)h.nnz, f) == (size_t)h.nnz;
    if (f && fclose(f)) good = 0;
    if (good && rename(name, file)) good = 0;
    if (good) return TRS_OK;
    snprintf(message, size, "%s: cannot be written: %s", file, strerror(errno));
    if (f) unlink(name);
    return TRS_EFILE;
}
