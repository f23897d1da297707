/* files.c: a matrix from a file of any kind, which triangle of it has entries, and the names of files
 * in the user's cache. */
#include "config.h"

#include "base/user_cache.h"
#include "binary.h"
#include "files.h"
#include "message.h"
#include "sentence.h"
#ifdef HAVE_RBIO
#include "trisolve-suitesparse.h"
#endif

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

bool file_is_lasting(const char *name)
{
    struct stat st;
    return strcmp(name, "-") != 0 && stat(name, &st) == 0 && S_ISREG(st.st_mode);
}

/* A file that is not Matrix Market may be Rutherford-Boeing or Harwell-Boeing.  When it is neither,
 * the sentence of the first attempt stays, and rc is the result. */
static int read_other(const char *name, const trs_mm_options *opt, trs_mm *mm, int rc)
{
#ifdef HAVE_RBIO
    bool other = (rc == TRS_EFORMAT && mm->size_line == 0) || rc == TRS_EFILE;
    trs_mm rb;
    if (!other || opt->rhs || !file_is_lasting(name)) return rc;
    int rb_rc = trs_rb_read(name, opt, &rb);
    if (rb_rc == TRS_EFORMAT || rb_rc == TRS_EFILE) {
        trs_mm_free(&rb);
        return rc;
    }
    trs_mm_free(mm);
    *mm = rb;
    return rb_rc ? say(rb_rc, "%s", trs_message()) : TRS_OK;
#else
    (void)name, (void)opt, (void)mm;
    return rc;
#endif
}

int file_read(const char *name, const trs_mm_options *opt, trs_mm *mm)
{
    if (!opt->rhs && binary_is(name)) return binary_read(name, opt->base, mm);
    int rc = trs_mm_read(name, opt, mm);
    if (!rc) return TRS_OK;
    say(rc, "%s", trs_message());
    return read_other(name, opt, mm, rc);
}

/* ---- names ----------------------------------------------------------------------------------- */

const char *base_name(const char *name)
{
    const char *slash = strrchr(name, '/');
    return slash && slash[1] ? slash + 1 : name;
}

const char *field_name(trs_field f)
{
    static const char *const name[] = {"real", "complex", "integer", "pattern"};
    return name[f];
}

const char *symmetry_name(trs_symmetry s)
{
    static const char *const name[] = {"general", "symmetric", "skew-symmetric", "hermitian"};
    return name[s];
}

/* ---- which triangle -------------------------------------------------------------------------- */

static bool is_nonzero(const trs_mat *A, int64_t k)
{
    const double *v = A->val;
    return A->dtype == TRS_F64 ? v[k] != 0 : v[2 * k] != 0 || v[2 * k + 1] != 0;
}

/* Sets *below and *above when column j of a full matrix has entries below and above the
 * diagonal. */
static void look_at_column(const trs_mat *A, int64_t j, bool *below, bool *above)
{
    for (int64_t i = 0; i < A->n; i++)
        if (i != j && is_nonzero(A, i + j * A->ld)) *(i > j ? below : above) = true;
}

/* The same for row i in CSR. */
static void look_at_row(const trs_mat *A, int64_t i, bool *below, bool *above)
{
    const int64_t *ptr = A->ptr;
    const int32_t *idx = A->idx;
    for (int64_t p = ptr[i] - A->base; p < ptr[i + 1] - A->base; p++) {
        const int64_t j = idx[p] - A->base;
        if (j != i) *(j < i ? below : above) = true;
    }
}

unsigned file_kind(const trs_mat *A)
{
    bool below = false, above = false;
    for (int64_t k = 0; k < A->n && !(below && above); k++)
        if (A->format == TRS_DENSE) look_at_column(A, k, &below, &above);
        else look_at_row(A, k, &below, &above);
    return (above ? 0 : TRS_LOWER) | (below ? 0 : TRS_UPPER);
}

bool file_may_be_permuted(const trs_mat *A)
{
    const int64_t *ptr = A->ptr;
    bool single = A->n == 0 || A->format == TRS_DENSE;
    for (int64_t i = 0; i < A->n && !single; i++) single = ptr[i + 1] - ptr[i] == 1;
    return single;
}

/* ---- the user's cache ------------------------------------------------------------------------ */

int make_folders(char *path)
{
    int failed = 0;
    for (char *slash = strchr(path + 1, '/'); slash && !failed; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        failed = mkdir(path, 0700) && errno != EEXIST ? errno : 0;
        *slash = '/';
    }
    return failed;
}

int cache_file(const char *name, char *path, size_t size)
{
    const bool there = trs_user_cache(name, path, size);
    const int failed = there ? make_folders(path) : 0;
    if (failed) complain("%s: %s", path, strerror(failed));
    if (!there) complain("no cache: set XDG_CACHE_HOME or HOME to a folder");
    return there && !failed ? EXIT_GOOD : EXIT_USAGE;
}
