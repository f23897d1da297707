/* t_rb.c: Rutherford-Boeing and Harwell-Boeing files.  What RBio's own writer makes of the shipped matrices must be read as
 * the Matrix Market file is, bit for bit.  Harwell-Boeing files are written by hand.  Damaged files must be refused. */
#include "config.h"

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "trisolve-suitesparse.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#ifdef HAVE_RBIO
#include <RBio.h>
#ifdef SuiteSparse_long
typedef SuiteSparse_long whole;
#else
typedef int64_t whole;
#endif

static const char *const names[] = {"1138_bus", "Erdos971", "bcsstk02", "bfwa62",
                                    "cg20",     "impcol_a", "lp_afiro", "plskz362",
                                    "qc324",    "seed4",    "west0067", "superlu_airfoil2"};
static char file[] = "/tmp/t_rb.XXXXXX";

static void read_mtx(const char *name, const trs_mm_options *opt, trs_mm *mm)
{
    char path[600];
    const char *source = getenv("TRS_SRCDIR");
    snprintf(path, sizeof path, "%s/matrices/%s.mtx", source ? source : ".", name);
    assert_int_equal(trs_mm_read(path, opt, mm), TRS_OK);
}

/* Write a CSC matrix by RBwrite, which finds out what symmetry it has. */
static void write_rb(const trs_mm *mm, char type[4])
{
    int64_t n = mm->nnz;
    whole *ptr = malloc((size_t)(mm->cols + 1) * sizeof *ptr),
          *idx = malloc((size_t)n * sizeof *idx);
    double *re = malloc((size_t)n * sizeof *re), *im = malloc((size_t)n * sizeof *im);
    const double *val = mm->val;
    int complex_values = mm->dtype == TRS_C64;
    assert_true(ptr && idx && re && im);
    for (int64_t j = 0; j <= mm->cols; j++) ptr[j] = mm->ptr[j];
    for (int64_t p = 0; p < n; p++) {
        idx[p] = mm->idx[p];
        re[p] = val[complex_values ? 2 * p : p];
        im[p] = complex_values ? val[2 * p + 1] : 0;
    }
    whole kind = complex_values ? 2 : 0; /* as RBio counts the kinds */
    whole rc = RBwrite(file, "a matrix", "key", mm->rows, mm->cols, ptr, idx, re,
                       complex_values ? im : NULL, NULL, NULL, kind, type);
    if (rc < 0) print_error("RBwrite: %d\n", (int)rc);
    assert_true(rc >= 0);
    free(ptr), free(idx), free(re), free(im);
}

static void assert_equal(const trs_mm *a, const trs_mm *b)
{
    int64_t majors = a->format == TRS_CSC ? a->cols : a->rows;
    assert_true(a->rows == b->rows && a->cols == b->cols && a->nnz == b->nnz);
    assert_int_equal(a->format, b->format);
    assert_int_equal(a->dtype, b->dtype);
    assert_int_equal(a->base, b->base);
    if (a->ptr) assert_memory_equal(a->ptr, b->ptr, (size_t)(majors + 1) * 8);
    if (a->row) assert_memory_equal(a->row, b->row, (size_t)a->nnz * 4);
    assert_memory_equal(a->idx, b->idx, (size_t)a->nnz * 4);
    assert_memory_equal(a->val, b->val, (size_t)a->nnz * (a->dtype == TRS_C64 ? 16 : 8));
}

static void one_matrix(const char *name)
{
    static const trs_mm_options how[] = {{.format = TRS_CSR},
                                         {.format = TRS_CSC, .base = 1},
                                         {.format = TRS_COO},
                                         {.format = TRS_CSR, .kind = TRS_LOWER},
                                         {.format = TRS_CSC, .kind = TRS_UPPER}};
    trs_mm mtx, rb;
    char type[4] = "";
    read_mtx(name, &(trs_mm_options){.format = TRS_CSC}, &mtx);
    write_rb(&mtx, type);
    trs_mm_free(&mtx);
    print_message("# %s: %.3s\n", name, type);
    for (size_t k = 0; k < sizeof how / sizeof how[0]; k++) {
        read_mtx(name, &how[k], &mtx);
        int rc = trs_rb_read(file, &how[k], &rb);
        if (rc) print_error("%s\n", trs_message());
        assert_int_equal(rc, TRS_OK);
        assert_equal(&mtx, &rb);
        trs_mm_free(&mtx);
        trs_mm_free(&rb);
    }
}

static void test_matrices(void **state)
{
    (void)state;
    for (size_t k = 0; k < sizeof names / sizeof names[0]; k++) one_matrix(names[k]);
}

static void assert_refused(const char *text, int64_t bytes, int status, const char *sentence)
{
    trs_mm mm;
    FILE *f = fopen(file, "w");
    assert_non_null(f);
    assert_int_equal(fwrite(text, 1, (size_t)bytes, f), bytes);
    fclose(f);
    assert_int_equal(trs_rb_read(file, NULL, &mm), status);
    if (!strstr(trs_message(), sentence)) print_error("%s\n", trs_message());
    assert_non_null(strstr(trs_message(), sentence));
    assert_null(mm.val);
    trs_mm_free(&mm);
}

static const char good[] =
    "title                                                                   key\n"
    "             3             1             1             1\n"
    "rua                        2             2             2             0\n"
    "(8I10)          (8I10)          (3E24.16)\n"
    "         1         2         3\n"
    "         1         2\n"
    "  1.5000000000000000e+00  2.5000000000000000e+00\n";

static const char huge[] =
    "title                                                                   key\n"
    "             3             1             1             1\n"
    "rua                        2             2     900000000             0\n"
    "(8I10)          (8I10)          (3E24.16)\n"
    "         1         3 900000001\n"
    "         1         2\n";

/* `good`, in which one text is replaced by another one of the same length. */
static void assert_changed(const char *was, const char *is, int status, const char *sentence)
{
    char text[sizeof good];
    memcpy(text, good, sizeof good);
    char *at = strstr(text, was);
    assert_non_null(at);
    memcpy(at, is, strlen(is));
    assert_refused(text, (int64_t)strlen(text), status, sentence);
}

static void test_refusals(void **state)
{
    (void)state;
    trs_mm mm;
    assert_refused("", 0, TRS_EFORMAT, "neither a Rutherford-Boeing nor");
    assert_refused("%%MatrixMarket matrix\n", 22, TRS_EFORMAT, "neither a Rutherford-Boeing nor");
    assert_refused("a\nb\nc\nd\ne\n", 10, TRS_EFORMAT, "neither a Rutherford-Boeing nor");
    assert_changed("rua", "rux", TRS_EFORMAT, "neither a Rutherford-Boeing nor");
    assert_changed("rua", "rue", TRS_ESUPPORT, ":1: a Rutherford-Boeing file: line 4: finite");
    assert_changed("rua", "RUE", TRS_ESUPPORT, ":1: a Harwell-Boeing file: line 4: finite");
    assert_changed("2         3\n", "1         9\n", TRS_EMATRIX, "column pointers");
    assert_changed("1         2\n  1.5", "1         7\n  1.5", TRS_EMATRIX, "row number");
    assert_changed("2             2             2 ", "2             2     900000000 ", TRS_EMATRIX,
                   "line 7: '1.500000' is no number in a field of (8I10)");
    assert_refused(huge, sizeof huge - 1, TRS_EMATRIX, "cannot hold 2 columns and 900000000");
    assert_changed("2             2             2 ", "2    9900000000             2 ", TRS_EMATRIX,
                   "out of range");
    assert_int_equal(trs_rb_read("/nonexistent.rb", NULL, &mm), TRS_EFILE);
    assert_int_equal(trs_rb_read(NULL, NULL, &mm), TRS_EARG);
    assert_int_equal(trs_rb_read(file, NULL, NULL), TRS_EARG);
    assert_int_equal(trs_rb_read(file, &(trs_mm_options){.base = 2}, &mm), TRS_EARG);
}

static void read_text(const char *text, const trs_mm_options *opt, trs_mm *mm)
{
    FILE *f = fopen(file, "w");
    assert_non_null(f);
    assert_int_not_equal(fputs(text, f), EOF);
    fclose(f);
    int rc = trs_rb_read(file, opt, mm);
    if (rc) print_error("%s\n", trs_message());
    assert_int_equal(rc, TRS_OK);
}

/* The matrix
 *     -1    0  -0.25
 *   -300   40   1e-100
 *      0    5   6e100
 * in fields that touch, with the exponents of Fortran, and followed by right-hand sides that have their own format; also
 * with a \r at the end of each line. */
static const char harwell[] =
    "A MATRIX WRITTEN BY HAND                                                BYHAND\n"
    "             7             1             1             3             1\n"
    "RUA                        3             3             7             0\n"
    "(4I3)           (10I2)          (1P, 3D12.5)        (3F10.3)\n"
    "F                          1             0\n"
    "  1  3  5  8\n"
    " 1 2 2 3 1 2 3\n"
    "-1.00000D+00-3.00000D+02 4.00000d+01\n"
    " 5.00000E+00-2.50000Q-01 1.00000-100\n"
    " 6.00000+100\n"
    "     1.000     2.000     3.000\n";

static void test_harwell(void **state)
{
    (void)state;
    static const double val[] = {-1, -300, 40, 5, -0.25, 1e-100, 6e100};
    char text[2 * sizeof harwell], *to = text;
    trs_mm mm;
    for (int with_cr = 0; with_cr < 2; with_cr++) {
        to = text;
        for (const char *p = harwell; *p; p++) {
            if (with_cr && *p == '\n') *to++ = '\r';
            *to++ = *p;
        }
        *to = '\0';
        read_text(text, &(trs_mm_options){.format = TRS_CSC}, &mm);
        assert_true(mm.rows == 3 && mm.cols == 3 && mm.nnz == 7 && mm.stored == 7);
        assert_true(mm.field == TRS_REAL && mm.symmetry == TRS_GENERAL);
        assert_memory_equal(mm.ptr, ((int64_t[]){0, 2, 4, 7}), 4 * sizeof(int64_t));
        assert_memory_equal(mm.idx, ((int32_t[]){0, 1, 1, 2, 0, 1, 2}), 7 * sizeof(int32_t));
        assert_memory_equal(mm.val, val, sizeof val);
        trs_mm_free(&mm);
    }
}

/* Rutherford-Boeing files may have the exponents of Fortran as well. */
static void test_exponents(void **state)
{
    (void)state;
    char text[sizeof good];
    trs_mm mm;
    memcpy(text, good, sizeof good);
    memcpy(strstr(text, "2.5000000000000000e+00"), "2.5000000000000000D+02", 22);
    memcpy(strstr(text, "1.5000000000000000e+00"), "1.5000000000000000-002", 22);
    read_text(text, NULL, &mm);
    assert_memory_equal(mm.val, ((double[]){0.015, 250}), 2 * sizeof(double));
    trs_mm_free(&mm);
}

/* A symmetric matrix, in whose header the count of right-hand sides is blank, as it may be when there are none. */
static void test_harwell_symmetric(void **state)
{
    (void)state;
    trs_mm mm;
    read_text("TITLE\n             3             1             1             1              \n"
              "CSA                        2             2             2             0\n"
              "(8I10)          (8I10)          (1P4E9.2)\n"
              "         1         3         3\n         1         2\n"
              " 1.00E+00-2.00E+00-3.00E+00 4.00E+00\n",
              NULL, &mm);
    assert_true(mm.nnz == 3 && mm.symmetry == TRS_SYMMETRIC && mm.dtype == TRS_C64);
    assert_memory_equal(mm.idx, ((int32_t[]){0, 1, 0}), 3 * sizeof(int32_t));
    assert_memory_equal(mm.val, ((double[]){1, -2, -3, 4, -3, 4}), 6 * sizeof(double));
    trs_mm_free(&mm);
}

/* Fields that a reader of words would take for other numbers, or could not separate. */
static void test_fields(void **state)
{
    (void)state;
    static const char number[] = "  1.5000000000000000e+00  2.5";
    static const struct {
        const char *was, *is, *sentence;
    } wrong[] = {
        {number, "  1.5000000000000000 +00  2.5", "line 7: '1.5000000000000000 +00' is no number"},
        {number, "                     0x1  2.5", "'0x1' is no number in a field of (3E24.16)"},
        {number, "                   1e400  2.5", "'1e400' is no number"},
        {number, "     1500000000000000000  2.5",
         "leaves its decimal point to the format (3E24.16)"},
        {"(3E24.16)", "(1E24.16)", "line 7: text behind the last field of (1E24.16)"},
        {"(3E24.16)", "(3E24,1Z)", "line 4: the Fortran format '(3E24,1Z)' is not read here"},
        {"(3E24.16)", "(3E99.16)", "is not read here"},
        {"(3E24.16)", "(9(9(X)))", "is not read here"},
        {"(3E24.16)", "((3E24.1)", "is not read here"},
        {"(3E24.16)", "(600E8.1)", "is not read here"},
        {"(3E24.16)", "(E)      ", "is not read here"},
        {"(3E24.16)", " 3E24.16 ", "is not read here"},
        {"(8I10)  ", "(8F10.0)", "is not read here"},
        {"         1         2         3\n", "         1         2       3.0\n",
         "'3.0' is no number"},
    };
    for (size_t k = 0; k < sizeof wrong / sizeof wrong[0]; k++) {
        const int code = strstr(wrong[k].sentence, "not read here") ? TRS_ESUPPORT : TRS_EMATRIX;
        assert_changed(wrong[k].was, wrong[k].is, code, wrong[k].sentence);
    }
    static const char scaled[] = "TITLE\n 3 1 1 1\nrua 1 1 1 0\n(2I2) (1I2) (1P,4F4.1)\n"
                                 " 1 2\n 1\n 2.5\n";
    assert_refused(scaled, sizeof scaled - 1, TRS_EMATRIX,
                   "'2.5' leaves its exponent to the format (1P,4F4.1)");
}

/* Characters between fields, scale factors and groups: by the standard of Fortran 77, 13.3 and 13.5, the lines behind the
 * first one begin with the last group. */
static void test_formats(void **state)
{
    (void)state;
    static const char *const text[] = {
        /* columns of a lower bidiagonal matrix: (2, -1), (3, 5), (4) */
        "TITLE\n 7 2 1 4\nRUA 3 3 5 0\n(2X,2(I3,1X))   (5(1X,I2))      (1X,1P,2(E10.3,1X))\n"
        "    1   3 \n  5   6 \n  1  2  2  3  3\n"
        "  2.000E+00*-1.000E+00#\n 3.000E+00; 5.000E+00 \n 4.000E+00\n",
        "TITLE\n 6 1 1 4\nRUA 3 3 5 0\n(4I3)           (2(2(I2),1X),I3)(-2PE10.3,2(1X,0P,D10.3))\n"
        "  1  3  5  6\n 1 2x 2 3   3\n"
        " 2.000E+00 -1.000D+00  3.000E+00\n  5.000E+00  4.000E+00\n",
        /* the widest fields that are read, with no decimals of their own */
        "TITLE\n 7 1 1 5\nRUA 3 3 5 0\n(4I3)           (5I2)           (E60.0)\n"
        "  1  3  5  6\n 1 2 2 3 3\n 2\n-1.0\n 3.\n 5E0\n 4.0\n"};
    for (int k = 0; k < 3; k++) {
        trs_mm mm;
        read_text(text[k], &(trs_mm_options){.format = TRS_CSC}, &mm);
        assert_memory_equal(mm.ptr, ((int64_t[]){0, 2, 4, 5}), 4 * sizeof(int64_t));
        assert_memory_equal(mm.idx, ((int32_t[]){0, 1, 1, 2, 2}), 5 * sizeof(int32_t));
        assert_memory_equal(mm.val, ((double[]){2, -1, 3, 5, 4}), 5 * sizeof(double));
        trs_mm_free(&mm);
    }
}

/* Pattern files, which RBio's writer does not make. */
static void test_pattern(void **state)
{
    (void)state;
    static const char text[] =
        "title\n             2             1             1             0\n"
        "psa                        2             2             2             0\n"
        "(8I10)          (8I10)\n"
        "         1         3         3\n         1         2\n";
    trs_mm mm;
    FILE *f = fopen(file, "w");
    assert_non_null(f);
    fputs(text, f);
    fclose(f);
    assert_int_equal(trs_rb_read(file, NULL, &mm), TRS_OK);
    assert_true(mm.nnz == 3 && mm.stored == 2 && mm.field == TRS_PATTERN);
    assert_int_equal(mm.symmetry, TRS_SYMMETRIC);
    assert_memory_equal(mm.idx, ((int32_t[]){0, 1, 0}), 3 * sizeof(int32_t));
    assert_memory_equal(mm.val, ((double[]){1, 1, 1}), 3 * sizeof(double));
    trs_mm_free(&mm);
}

/* Integers are exact or refused where they are asked for, and so is a complex matrix where a real one is. */
static void test_values_asked_for(void **state)
{
    (void)state;
    static const char form[] = "title\n 3 1 1 1\n%cua 2 2 2 0\n(8I10) (8I10) %s\n"
                               "         1         2         3\n         1         2\n%s\n";
    static const struct {
        char kind;
        const char *format, *values, *refused;
    } cases[] = {{'i', "(2I20)", "                  -7    9007199254740991", NULL},
                 {'i', "(2I20)", "                  -7    9007199254740993", "below 2^53"},
                 {'i', "(2I20)", "   -9007199254740992                   1", "below 2^53"},
                 {'c', "(4F5.1)", "  1.0  2.0  3.0  4.0", "a real one is needed"}};
    for (int k = 0; k < 4; k++) {
        const trs_mm_options opt = {.integers = cases[k].kind == 'i',
                                    .real_only = cases[k].kind == 'c'};
        char text[400];
        trs_mm mm;
        snprintf(text, sizeof text, form, cases[k].kind, cases[k].format, cases[k].values);
        if (!cases[k].refused) {
            read_text(text, &opt, &mm);
            assert_int_equal(mm.dtype, TRS_I64);
            assert_memory_equal(mm.val, ((int64_t[]){-7, 9007199254740991}), 2 * sizeof(int64_t));
            assert_int_equal(mm.rounded, 0);
        } else {
            FILE *f = fopen(file, "w");
            assert_non_null(f);
            fputs(text, f);
            fclose(f);
            assert_int_equal(trs_rb_read(file, &opt, &mm),
                             opt.integers ? TRS_EMATRIX : TRS_ESUPPORT);
            if (!strstr(trs_message(), cases[k].refused)) print_error("%s\n", trs_message());
            assert_non_null(strstr(trs_message(), cases[k].refused));
            assert_null(mm.val);
            assert_int_equal(mm.rounded, opt.integers);
        }
        trs_mm_free(&mm);
    }
}

/* A file that is cut off anywhere is refused or, when only blanks and the last digits are missing, read.  Sanitizers show
 * here how RBio copes with it. */
static void test_cut(void **state)
{
    (void)state;
    const size_t needed = sizeof good - 1 - 30;
    for (size_t n = 0; n < needed; n++) {
        trs_mm mm;
        FILE *f = fopen(file, "w");
        assert_non_null(f);
        assert_int_equal(fwrite(good, 1, n, f), n);
        fclose(f);
        assert_int_not_equal(trs_rb_read(file, NULL, &mm), TRS_OK);
        assert_int_not_equal(trs_message()[0], 0);
        trs_mm_free(&mm);
    }
}

/* The line of an error in a text of several hundred thousand bytes, which is read in parts. */
static void test_far_errors(void **state)
{
    (void)state;
    enum { ROWS = 30000 };
    char *text = malloc((size_t)ROWS * 60), *to = text;
    char sentence[80];
    assert_non_null(text);
    to += sprintf(to, "title\n %d %d %d %d\nrua %d %d %d 0\n(I10) (I10) (E24.16)\n", 3 * ROWS + 1,
                  ROWS + 1, ROWS, ROWS, ROWS, ROWS, ROWS);
    for (int j = 1; j <= ROWS + 1; j++) to += sprintf(to, "%10d\n", j);
    for (int j = 1; j <= ROWS; j++) to += sprintf(to, "%10d\n", j);
    for (int j = 1; j <= ROWS; j++) to += sprintf(to, "%24.16e\n", 1.0 / j);
    for (int part = 1; part < 10; part++) {
        char *at = text + (to - text) * part / 10;
        int line = 1;
        while (at[-1] != '\n') at--;
        for (const char *p = text; p < at; p++) line += *p == '\n';
        const char saved = *at;
        *at = 'x';
        snprintf(sentence, sizeof sentence, ": line %d: 'x", line);
        assert_refused(text, to - text, TRS_EMATRIX, sentence);
        *at = saved;
    }
    free(text);
}

static int make_file(void **state)
{
    (void)state;
    int fd = mkstemp(file);
    return fd < 0 ? -1 : close(fd);
}

static int remove_file(void **state)
{
    (void)state;
    return unlink(file);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_matrices),
                                       cmocka_unit_test(test_refusals),
                                       cmocka_unit_test(test_harwell),
                                       cmocka_unit_test(test_harwell_symmetric),
                                       cmocka_unit_test(test_exponents),
                                       cmocka_unit_test(test_formats),
                                       cmocka_unit_test(test_fields),
                                       cmocka_unit_test(test_pattern),
                                       cmocka_unit_test(test_cut),
                                       cmocka_unit_test(test_far_errors),
                                       cmocka_unit_test(test_values_asked_for)};
    return cmocka_run_group_tests_name("rb", tests, make_file, remove_file);
}

#else

static void test_absent(void **state)
{
    (void)state;
    trs_mm mm;
    assert_int_equal(trs_rb_read("x.rb", NULL, &mm), TRS_ESUPPORT);
    assert_non_null(strstr(trs_message(), "RBio"));
    skip();
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_absent)};
    return cmocka_run_group_tests_name("rb", tests, NULL, NULL);
}

#endif
