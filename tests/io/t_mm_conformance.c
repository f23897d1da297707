/* t_mm_conformance.c: every case of the Matrix Market conformance table.
 *
 * The table is not part of the package: MM_CONFORMANCE names the directory that holds expected.tsv, or TRS_SHARED the one
 * above mm-conformance/open; without it the test is skipped.  Each file that the table accepts is read into CSR, CSC and COO,
 * by one thread and by several: sizes, counts and sums must be those of the table. */
#include "config.h"

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "trisolve-sparse.h"

#include <stdbool.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    FILE_ = 0,
    ROLE,
    VERDICT,
    LINE,
    MUST,
    ROWS,
    COLS,
    STORED,
    ENTRIES,
    SUM_RE,
    SUM_IM,
    MAXABS,
    NOTE
};

static int cases, wrong;

static void complain(const char *file, const char *what, const char *detail)
{
    wrong++;
    print_error("%s: %s %s\n", file, what, detail);
}

static bool near(double a, double b)
{
    return a == b || fabs(a - b) <= 1e-13 * (fabs(a) + fabs(b));
}

static void sums(const trs_mm *mm, double sum[3])
{
    const double *val = mm->val;
    int words = mm->dtype == TRS_C64 ? 2 : 1;
    int64_t n = mm->format == TRS_DENSE ? mm->rows * mm->cols : mm->nnz;
    long double re = 0, im = 0;
    sum[2] = 0;
    for (int64_t k = 0; k < n; k++) {
        double y = words == 2 ? val[2 * k + 1] : 0, size = hypot(val[words * k], y);
        re += val[words * k];
        im += y;
        if (size > sum[2]) sum[2] = size;
    }
    sum[0] = (double)re;
    sum[1] = (double)im;
}

static void check_content(const trs_mm *mm, const char *path, char **f)
{
    double sum[3];
    if (mm->rows != atoll(f[ROWS]) || mm->cols != atoll(f[COLS])) complain(path, "size", f[ROWS]);
    if (!strcmp(f[STORED], "-")) return;
    sums(mm, sum);
    if (mm->stored != atoll(f[STORED])) complain(path, "stored entries, must be", f[STORED]);
    if (mm->nnz != atoll(f[ENTRIES])) complain(path, "entries, must be", f[ENTRIES]);
    for (int k = 0; k < 3; k++)
        if (!near(sum[k], strtod(f[SUM_RE + k], NULL)))
            complain(path, "sum, must be", f[SUM_RE + k]);
}

/* A legal rectangular matrix is read, but is no trs_mat; the line to name is that of its sizes. */
static bool is_refused_later(const trs_mm *mm, char **f)
{
    trs_mat mat;
    return !strcmp(f[ROLE], "matrix") && mm->rows != mm->cols &&
           trs_mm_mat(mm, 0, &mat) == TRS_EARG && mm->size_line == atoll(f[LINE]);
}

static void check_refusal(const trs_mm *mm, const char *path, char **f)
{
    char must[700];
    if (!strcmp(f[LINE], "-")) snprintf(must, sizeof must, "%s: ", path);
    else snprintf(must, sizeof must, "%s:%s: ", path, f[LINE]);
    if (strncmp(trs_message(), must, strlen(must)))
        complain(must, "is not how it begins:", trs_message());
    if (strlen(trs_message()) < strlen(must) + 8) complain(path, "no sentence:", trs_message());
    if (mm->ptr || mm->idx || mm->val || mm->row) complain(path, "arrays after an error", "");
}

/* Compare what reading gave with the verdict of the table. */
static void check_verdict(const trs_mm *mm, const char *path, char **f, int rc)
{
    const bool accept = !strcmp(f[VERDICT], "accept"), reject = !strcmp(f[VERDICT], "reject");
    const bool any_line = !strcmp(f[VERDICT], "choice") && !strcmp(f[LINE], "-");
    if (rc && accept) complain(path, "is refused:", trs_message());
    else if (rc && !any_line) check_refusal(mm, path, f);
    else if (!rc && reject && !is_refused_later(mm, f)) complain(path, "gets through", "");
    else if (!rc && !reject && strcmp(f[ROWS], "-")) check_content(mm, path, f);
}

static void one_way(const char *path, char **f, trs_format format, int threads)
{
    trs_mm mm;
    trs_mm_options opt = {.format = format, .threads = threads};
    int rc = trs_mm_read(path, &opt, &mm);
    check_verdict(&mm, path, f, rc);
    if (format == TRS_CSR && threads == 1 && !strcmp(f[VERDICT], "choice"))
        print_message("# choice: %s\n", rc ? trs_message() : path);
    trs_mm_free(&mm);
}

static void one_case(const char *directory, char *row)
{
    char path[600], *f[NOTE + 1] = {0};
    for (int k = 0; k <= NOTE && row; k++) {
        f[k] = row;
        row = strchr(row, '\t');
        if (row) *row++ = '\0';
    }
    if (!f[MAXABS]) return;
    cases++;
    snprintf(path, sizeof path, "%s/%s", directory, f[FILE_]);
    for (int threads = 1; threads <= 3; threads += 2) {
        one_way(path, f, TRS_CSR, threads);
        one_way(path, f, TRS_CSC, threads);
        one_way(path, f, TRS_COO, threads);
    }
}

static void test_table(void **state)
{
    (void)state;
    const char *shared = getenv("TRS_SHARED"), *own = getenv("MM_CONFORMANCE");
    char directory[400], table[500], row[2000];
    if (own) snprintf(directory, sizeof directory, "%s", own);
    else
        snprintf(directory, sizeof directory, "%s/mm-conformance/open",
                 shared ? shared : "../shared");
    snprintf(table, sizeof table, "%s/expected.tsv", directory);
    FILE *file = fopen(table, "r");
    if (!file) {
        print_message("# %s is not here; set MM_CONFORMANCE\n", table);
        skip();
    }
    if (!fgets(row, sizeof row, file)) fail();
    while (fgets(row, sizeof row, file)) {
        row[strcspn(row, "\n")] = '\0';
        one_case(directory, row);
    }
    fclose(file);
    print_message("# %d cases, %d complaints\n", cases, wrong);
    assert_int_not_equal(cases, 0);
    assert_int_equal(wrong, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_table)};
    return cmocka_run_group_tests_name("mm-conformance", tests, NULL, NULL);
}
