/* binary.c: square matrices in a file as they lie in memory, for sizes at which text is too
 * slow. */
#include "config.h"

#include "binary.h"
#include "io/output.h"
#include "sentence.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static const char magic[8] = "TRISOLV1";

typedef struct header {
    char magic[8];
    int64_t n, nnz;
} header;

/* Arrays are read and written as they lie in memory, which must therefore be little endian too. */
static int little_endian(void)
{
    const uint16_t one = 1;
    return *(const unsigned char *)&one == 1;
}

int binary_is(const char *file)
{
    char start[sizeof magic];
    struct stat st;
    if (stat(file, &st) || !S_ISREG(st.st_mode)) return 0;
    FILE *f = fopen(file, "rb");
    if (!f) return 0;
    int is = fread(start, sizeof start, 1, f) == 1 && !memcmp(start, magic, sizeof magic);
    fclose(f);
    return is;
}

/* ---- reading --------------------------------------------------------------------------------- */

static int refuse(int code, const char *file, const char *what)
{
    return say(code, "%.200s: %s", file, what);
}

/* Is there a header, and behind it exactly the arrays that it promises? */
static int read_header(FILE *f, header *h)
{
    if (fread(h, sizeof *h, 1, f) != 1 || memcmp(h->magic, magic, sizeof magic)) return 0;
    if (h->n < 0 || h->n >= INT32_MAX || h->nnz < 0 || h->nnz > INT64_MAX / 16) return 0;
    int64_t want = (int64_t)sizeof *h + 8 * (h->n + 1) + 12 * h->nnz;
    return !fseeko(f, 0, SEEK_END) && (int64_t)ftello(f) == want && !fseeko(f, sizeof *h, SEEK_SET);
}

static int read_arrays(FILE *f, const header *h, const char *file, trs_mm *mm)
{
    const size_t n = (size_t)h->n, nnz = (size_t)h->nnz;
    mm->rows = mm->cols = h->n;
    mm->nnz = mm->stored = h->nnz;
    mm->ptr = malloc((n + 1) * sizeof *mm->ptr);
    mm->idx = malloc(nnz * sizeof *mm->idx + 1);
    mm->val = malloc(nnz * sizeof(double) + 1);
    if (!mm->ptr || !mm->idx || !mm->val) return refuse(TRS_EMEM, file, "out of memory");
    if (fread(mm->ptr, 8, n + 1, f) == n + 1 && fread(mm->idx, 4, nnz, f) == nnz &&
        fread(mm->val, 8, nnz, f) == nnz)
        return TRS_OK;
    return refuse(TRS_EFILE, file, "cannot be read");
}

/* Do the pointers ascend from 0 to nnz, and the columns, which are in range, within each row? */
static int check_arrays(const trs_mm *mm)
{
    if (mm->ptr[0] != 0 || mm->ptr[mm->rows] != mm->nnz) return 0;
    for (int64_t i = 0; i < mm->rows; i++) {
        int64_t last = -1;
        if (mm->ptr[i + 1] < mm->ptr[i] || mm->ptr[i + 1] > mm->nnz) return 0;
        for (int64_t p = mm->ptr[i]; p < mm->ptr[i + 1]; last = mm->idx[p++])
            if (mm->idx[p] <= last || mm->idx[p] >= mm->cols) return 0;
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
    if (!little_endian())
        return refuse(TRS_ESUPPORT, file, "the .trs format needs a little-endian machine");
    FILE *f = fopen(file, "rb");
    if (!f) return refuse(TRS_EFILE, file, strerror(errno));
    int rc = TRS_OK;
    if (!read_header(f, &h)) rc = refuse(TRS_EFORMAT, file, "not a complete .trs file");
    if (!rc) rc = read_arrays(f, &h, file, mm);
    if (!rc && !check_arrays(mm))
        rc = refuse(TRS_EFORMAT, file, "pointers or columns are out of range or out of order");
    if (!rc) rebase(mm, base);
    fclose(f);
    return rc;
}

/* ---- writing --------------------------------------------------------------------------------- */

int binary_write(const char *file, const trs_mm *mm)
{
    header h = {.n = mm->rows, .nnz = mm->nnz};
    const struct {
        const void *p;
        int64_t bytes;
    } array[] = {{&h, sizeof h},
                 {mm->ptr, 8 * (mm->rows + 1)},
                 {mm->idx, 4 * mm->nnz},
                 {mm->val, 8 * mm->nnz}};
    trs_output out = {.file = file, .fd = -1};
    memcpy(h.magic, magic, sizeof magic);
    if (!little_endian())
        return refuse(TRS_ESUPPORT, file, "the .trs format needs a little-endian machine");
    int rc = trs_output_open(&out);
    for (int k = 0; k < 4 && !rc; k++) {
        rc = trs_output_put(&out, array[k].p, array[k].bytes, out.offset);
        out.offset += array[k].bytes;
    }
    rc = trs_output_close(&out);
    return rc ? say(rc, "%s", trs_message()) : TRS_OK;
}
