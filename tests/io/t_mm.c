/* t_mm.c: reading and writing Matrix Market files: what is read is compared with strtod, with matrices that the test
 * wrote itself, and between one thread and several; what is wrong must be refused with its code, line and words. */
#include "config.h"

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "io/decimal/print.h"
#include "io/decimal/read.h"
#include "trisolve-sparse.h"

#include <dirent.h>
#include <fcntl.h>
#include <locale.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>
#ifdef HAVE_LIBARCHIVE
#include <archive.h>
#include <archive_entry.h>
#endif

#define assert_same(a, b) assert_memory_equal(&(double){a}, &(double){b}, sizeof(double))

static uint64_t seed = 88172645463325252u;

static uint64_t bits(void)
{
    seed ^= seed << 13;
    seed ^= seed >> 7;
    return seed ^= seed << 17;
}

/* ---- a temporary directory ----------------------------------------------------------------- */

static char directory[] = "/tmp/t_mm.XXXXXX";
static char path[100];

static const char *name(const char *file)
{
    snprintf(path, sizeof path, "%s/%s", directory, file);
    return path;
}

static int make_directory(void **state)
{
    (void)state;
    return mkdtemp(directory) == NULL;
}

static int remove_directory(void **state)
{
    (void)state;
    char file[400];
    DIR *d = opendir(directory);
    for (struct dirent *e; d && (e = readdir(d));) {
        snprintf(file, sizeof file, "%s/%s", directory, e->d_name);
        if (e->d_name[0] != '.') unlink(file);
    }
    if (d) closedir(d);
    return rmdir(directory);
}

static void put_file(const char *file, const char *text, size_t n)
{
    FILE *f = fopen(name(file), "wb");
    assert_non_null(f);
    assert_int_equal(fwrite(text, 1, n, f), n);
    assert_int_equal(fclose(f), 0);
}

/* Write the text to a file and read the file. */
static int read_text(const char *text, const trs_mm_options *opt, trs_mm *mm)
{
    put_file("a.mtx", text, strlen(text));
    return trs_mm_read(name("a.mtx"), opt, mm);
}

static void assert_read(const char *text, const trs_mm_options *opt, trs_mm *mm)
{
    int rc = read_text(text, opt, mm);
    if (rc) print_error("%s\n", trs_message());
    assert_int_equal(rc, TRS_OK);
}

/* The text must be refused with this code, in this line (0: no line is named), with these words. */
static void assert_refused(const char *text, const trs_mm_options *opt, int code, int line,
                           const char *words)
{
    trs_mm mm;
    char begin[120];
    int rc = read_text(text, opt, &mm);
    if (line) snprintf(begin, sizeof begin, "%s:%d: ", name("a.mtx"), line);
    else snprintf(begin, sizeof begin, "%s: ", name("a.mtx"));
    if (rc != code || strncmp(trs_message(), begin, strlen(begin)) || !strstr(trs_message(), words))
        print_error("%d %s\n", rc, trs_message());
    assert_int_equal(rc, code);
    assert_memory_equal(trs_message(), begin, strlen(begin));
    assert_non_null(strstr(trs_message(), words));
    assert_null(mm.val);
    trs_mm_free(&mm);
}

/* ---- numbers ------------------------------------------------------------------------------- */

static void check_number(const char *text)
{
    char padded[2000] = {0};
    double x = 0, y = strtod(text, NULL), z;
    size_t n = strlen(text);
    memcpy(padded, text, n);
    padded[n] = '\n';
    const char *end = trs_read_real(padded, &x);
    if (isinf(y)) {
        assert_null(end);
        return;
    }
    if (end != padded + n || memcmp(&x, &y, sizeof x))
        print_error("%s: %.17g, not %.17g\n", text, x, y);
    assert_ptr_equal(end, padded + n);
    assert_same(x, y);
    if (trs_read_plain(padded, end, &z)) assert_same(z, y);
}

static void test_hard_numbers(void **state)
{
    (void)state;
    static const char *const hard[] = {
        "0",
        "-0",
        "0.0012345678901234567",
        "-0.00000012345678901234567",
        "0.0000000000000000001234567890123456789",
        "0.00000000000000000012345678901234567891",
        "000.00012345678901234567",
        "0000000000000000000000000.5",
        "0000000000000000000000000.0000000000000000000",
        "1.000000000000000000000000",
        "+0.0",
        "1",
        ".5",
        "5.",
        "-.5e1",
        "1e23",
        "8.5e22",
        "9007199254740993",
        "9007199254740992.5",
        "0.1000000000000000055511151231257827021181583404541015625",
        "2.2250738585072011e-308",
        "2.2250738585072012e-308",
        "4.9406564584124654e-324",
        "1e-400",
        "2.4703282292062327208e-324",
        "2.4703282292062328e-324",
        "1.7976931348623157e308",
        "1.7976931348623158e308",
        "1.7976931348623159e308",
        "1e400",
        "1e-1000000000000",
        "0e1000000000000",
        "123456789012345678901234567890",
        "0.00000000000000000000000000000000000012345678901234567890e10",
        "179769313486231580793728971405303415079934132710037826936173778980444968292764750946649017"
        "977587"
        "2073336214",
        "6.92949564460092000e15",
        "7.2057594037927933e16",
        "3.7e-5",
        "00000000000000000000000001.25",
        "9223372036854775807",
        "18446744073709551615",
        "18446744073709551616",
        "1e22",
        "1e0022",
    };
    for (size_t k = 0; k < sizeof hard / sizeof hard[0]; k++) check_number(hard[k]);
}

/* 1 + 2^-53 with more digits than any double needs: the last one decides, however many zeros are before it. */
static void test_long_halfway(void **state)
{
    (void)state;
    static const char half[] = "1.00000000000000011102230246251565404236316680908203125";
    char text[1500];
    for (int zeros = 700; zeros < 1300; zeros += 23)
        for (int last = 0; last < 2; last++)
            for (int front = 0; front < 2; front++) { /* the point is before or after them */
                int n = snprintf(text, sizeof text, "%s", half);
                if (front) n = snprintf(text, sizeof text, "1%s", half + 2);
                memset(text + n, '0', (size_t)zeros);
                n += zeros;
                text[n++] = (char)('0' + last);
                snprintf(text + n, sizeof text - (size_t)n, "e-%d", front ? zeros + 54 : 0);
                check_number(text);
            }
}

/* Numbers halfway between two doubles, and just beside that, where any digit after the 17th may decide. */
static void test_halfway(void **state)
{
    (void)state;
    char text[1200];
    for (int k = 0; k < 8000; k++) {
        uint64_t b = bits() & (k % 2 ? UINT64_MAX : 0x001fffffffffffff), next = b + 1;
        double x, y;
        memcpy(&x, &b, sizeof x);
        memcpy(&y, &next, sizeof y);
        if (!isfinite(x) || !isfinite(y)) continue;
        snprintf(text, sizeof text, "%.1100Lg", ((long double)x + (long double)y) / 2);
        check_number(text);
        char *e = strchr(text, 'e');
        if (e || !strchr(text, '.')) continue;
        strcat(text, "00000000000000000000001");
        check_number(text);
    }
}

static void test_random_numbers(void **state)
{
    (void)state;
    char text[100];
    for (int k = 0; k < 150000; k++) {
        uint64_t b = bits();
        double x;
        memcpy(&x, &b, sizeof x);
        if (!isfinite(x)) continue;
        if (k % 3 == 0) snprintf(text, sizeof text, "%.*e", (int)(bits() % 25), x);
        if (k % 3 == 1)
            snprintf(text, sizeof text, "0.%017llu", (unsigned long long)(b % 100000000000000000));
        if (k % 3 == 2)
            snprintf(text, sizeof text, "%llue%d", (unsigned long long)b,
                     (int)(bits() % 700) - 350);
        check_number(text);
    }
}

/* The plain form, d.ddd: with a sign or without, with any number of digits, with zeros in front, behind and
 * throughout. */
static void test_plain_numbers(void **state)
{
    (void)state;
    int plain = 0;
    for (int k = 0; k < 100000; k++) {
        char text[160] = {0};
        int n = 0, digits = (int)(bits() % 21), zeros = (int)(bits() % 21);
        if (bits() % 2) text[n++] = '-';
        text[n++] = (char)('0' + bits() % 10 * (bits() % 2));
        text[n++] = '.';
        for (int d = 0; d < digits; d++) {
            const bool zero = (k % 3 == 0 && d < zeros) || (k % 3 == 1 && d >= zeros);
            text[n++] = (char)('0' + (zero ? 0 : bits() % 10));
        }
        text[n] = '\0';
        check_number(text);
        double x;
        text[n] = '\n';
        plain += trs_read_plain(text, text + n, &x);
        if (digits < 4) continue;
        strchr(text, '.')[1 + bits() % 4] = "e,x "[bits() % 4]; /* then it is not plain */
        assert_false(trs_read_plain(text, text + n, &x));
    }
    print_message("%d of 100000 read as plain numbers\n", plain);
    assert_true(plain > 66000);
}

/* Bit k of trs_delimiters_at says whether character at + k is a delimiter. */
static void test_delimiters(void **state)
{
    (void)state;
    enum { ROOM = TRS_WINDOW + TRS_TEXT_PAD + 64 };
    static const char some[] = " \n\t\r0123456789.-+eE!~\0\x80\xff";
    char text[ROOM], map[TRS_WINDOW / 8 + 16];
    for (int trial = 0; trial < 40; trial++) {
        const int64_t n = trial ? 1 + (int64_t)(bits() % TRS_WINDOW) : TRS_WINDOW,
                      up = (n + 63) / 64 * 64;
        for (int k = 0; k < ROOM; k++) text[k] = some[bits() % (sizeof some - 1)];
        trs_map_delimiters(text, n, map);
        for (int64_t at = 0; at < n; at++) {
            uint64_t all = 0, sure = UINT64_MAX >> 7;
            for (int64_t k = at; k < at + 64 && k < up; k++)
                if (text[k] <= ' ' || text[k] > '~') all |= (uint64_t)1 << (k - at);
            assert_int_equal(trs_delimiters_at(map, at, true), all);
            assert_int_equal(trs_delimiters_at(map, at, false) & sure, all & sure);
            assert_int_equal(trs_delimiters_at(map, at, false) & ~all, 0);
        }
    }
}

static void test_not_numbers(void **state)
{
    (void)state;
    static const char *const wrong[] = {"",    "+",  "-",  ".",  "e5", "1e",   "1e+",  "1d-",
                                        "--1", "+-", "in", "na", "x1", "1.5e", "-.e1", "1.e"};
    for (size_t k = 0; k < sizeof wrong / sizeof wrong[0]; k++) {
        char padded[100] = {0};
        double x;
        strcpy(padded, wrong[k]);
        strcat(padded, "\n");
        assert_null(trs_read_real(padded, &x));
    }
}

/* How many significant digits the text has. */
static int significant(const char *text)
{
    int n = 0, zeros = 0;
    for (; *text && *text != 'e'; text++) {
        if (*text < '0' || *text > '9' || (*text == '0' && n == 0)) continue;
        zeros = *text == '0' ? zeros + 1 : 0;
        n++;
    }
    return n - zeros;
}

/* Of all decimals of this length the text has the one nearest to x, unless that one would be read as another number (a
 * power of two has neighbours at different distances). */
static void check_nearest(const char *text, double x, bool is_float)
{
    char nearest[40];
    const int n = significant(text);
    snprintf(nearest, sizeof nearest, "%.*e", n > 0 ? n - 1 : 0, x);
    if (is_float ? strtof(nearest, NULL) != (float)x : strtod(nearest, NULL) != x) return;
    if (strtold(text, NULL) != strtold(nearest, NULL))
        print_error("%s, not %s, for %a\n", text, nearest, x);
    assert_true(strtold(text, NULL) == strtold(nearest, NULL));
}

static void check_shortest(double x, float f)
{
    char text[TRS_REAL_TEXT + 1], other[40];
    int n = 0;
    char *end = trs_put_real(text, x);
    assert_in_range(end - text, 1, TRS_REAL_TEXT);
    *end = '\0';
    assert_same(strtod(text, NULL), x);
    do snprintf(other, sizeof other, "%.*e", n++, x);
    while (strtod(other, NULL) != x);
    assert_true(significant(text) <= n);
    check_nearest(text, x, false);
    *trs_put_float(text, f) = '\0';
    n = 0;
    do snprintf(other, sizeof other, "%.*e", n++, (double)f);
    while (strtof(other, NULL) != f);
    assert_true(strtof(text, NULL) == f && significant(text) <= n);
    check_nearest(text, (double)f, true);
}

static void test_shortest(void **state)
{
    (void)state;
    for (int k = 0; k < 50000; k++) {
        uint64_t b = bits();
        uint32_t c = (uint32_t)bits();
        double x;
        float f;
        if (k % 4 == 1) b &= ~0xfffffffffffffu;
        if (k % 4 == 2) b &= 0xfffffffffffffu;
        memcpy(&x, &b, sizeof x);
        memcpy(&f, &c, sizeof f);
        if (k % 4 == 3) x = (double)(bits() % 1000000) / 1000;
        if (isfinite(x) && isfinite(f)) check_shortest(x, f);
    }
    static const struct {
        double x;
        const char *text;
    } known[] = {{0, "0"},           {-0.0, "-0"},     {1, "1"},           {100, "100"},
                 {0.1, "0.1"},       {1e22, "1e22"},   {5e-324, "5e-324"}, {0.00012, "0.00012"},
                 {1.5e-5, "1.5e-5"}, {-12.5, "-12.5"}, {INFINITY, "inf"},  {-INFINITY, "-inf"},
                 {NAN, "nan"}};
    for (size_t k = 0; k < sizeof known / sizeof known[0]; k++) {
        char text[TRS_REAL_TEXT + 1];
        *trs_put_real(text, known[k].x) = '\0';
        assert_string_equal(text, known[k].text);
    }
}

/* ---- what is read -------------------------------------------------------------------------- */

#define LOWER3 "3 3 5\n1 1 1.5\n2 1 -2\n3 1 4\n2 2 3\n3 3 7\n"

static void test_csr(void **state)
{
    (void)state;
    trs_mm mm;
    assert_read("%%MatrixMarket matrix coordinate real general\n% c\n" LOWER3, NULL, &mm);
    const int64_t ptr[] = {0, 1, 3, 5};
    const int32_t idx[] = {0, 0, 1, 0, 2};
    const double val[] = {1.5, -2, 3, 4, 7};
    assert_memory_equal(mm.ptr, ptr, sizeof ptr);
    assert_memory_equal(mm.idx, idx, sizeof idx);
    assert_memory_equal(mm.val, val, sizeof val);
    assert_true(mm.format == TRS_CSR && mm.dtype == TRS_F64 && mm.field == TRS_REAL);
    assert_true(mm.rows == 3 && mm.cols == 3 && mm.stored == 5 && mm.nnz == 5 && mm.size_line == 3);
    trs_mm_free(&mm);
}

static void test_csc_and_coo(void **state)
{
    (void)state;
    trs_mm mm;
    const char *text =
        "%%MatrixMarket matrix coordinate real general\n2 3 3\n2 3 9\n1 3 8\n2 1 7\n";
    assert_read(text, &(trs_mm_options){.format = TRS_CSC, .base = 1}, &mm);
    assert_memory_equal(mm.ptr, ((int64_t[]){1, 2, 2, 4}), 4 * sizeof(int64_t));
    assert_memory_equal(mm.idx, ((int32_t[]){2, 1, 2}), 3 * sizeof(int32_t));
    assert_memory_equal(mm.val, ((double[]){7, 8, 9}), 3 * sizeof(double));
    trs_mm_free(&mm);
    assert_read(text, &(trs_mm_options){.format = TRS_COO}, &mm);
    assert_null(mm.ptr);
    assert_memory_equal(mm.row, ((int32_t[]){0, 1, 1}), 3 * sizeof(int32_t));
    assert_memory_equal(mm.idx, ((int32_t[]){2, 0, 2}), 3 * sizeof(int32_t));
    assert_memory_equal(mm.val, ((double[]){8, 7, 9}), 3 * sizeof(double));
    trs_mm_free(&mm);
}

static void test_symmetries(void **state)
{
    (void)state;
    trs_mm mm;
    /* as SciPy and MatrixMarket.jl write a symmetric matrix: real and integer, coordinate and array */
    static const char *const symmetric[] = {
        "%%MatrixMarket matrix coordinate real hermitian\n2 2 2\n1 1 3\n2 1 7\n",
        "%%MatrixMarket matrix coordinate integer hermitian\n2 2 2\n1 1 3\n2 1 7\n"};
    for (int k = 0; k < 2; k++) {
        assert_read(symmetric[k], NULL, &mm);
        assert_true(mm.symmetry == TRS_SYMMETRIC && mm.field == (k ? TRS_INTEGER : TRS_REAL));
        assert_memory_equal(mm.val, ((double[]){3, 7, 7}), 3 * sizeof(double));
        trs_mm_free(&mm);
    }
    assert_read("%%MatrixMarket matrix array real hermitian\n2 2\n3\n7\n5\n", NULL, &mm);
    assert_memory_equal(mm.val, ((double[]){3, 7, 7, 5}), 4 * sizeof(double));
    trs_mm_free(&mm);
    assert_read("%%MatrixMarket matrix coordinate complex hermitian\n2 2 2\n1 1 3 0\n2 1 1 2\n",
                NULL, &mm);
    assert_memory_equal(mm.val, ((double[]){3, 0, 1, -2, 1, 2}), 6 * sizeof(double));
    trs_mm_free(&mm);
    assert_read("%%MatrixMarket matrix coordinate complex symmetric\n2 2 2\n1 1 3 1\n2 1 1 2\n",
                NULL, &mm);
    assert_memory_equal(mm.val, ((double[]){3, 1, 1, 2, 1, 2}), 6 * sizeof(double));
    trs_mm_free(&mm);
    assert_read("%%MatrixMarket matrix coordinate complex skew-symmetric\n2 2 1\n2 1 1 2\n", NULL,
                &mm);
    assert_memory_equal(mm.val, ((double[]){-1, -2, 1, 2}), 4 * sizeof(double));
    trs_mm_free(&mm);
    assert_read("%%MatrixMarket matrix coordinate pattern symmetric\n2 2 2\n2 1\n2 2\n", NULL, &mm);
    assert_memory_equal(mm.val, ((double[]){1, 1, 1}), 3 * sizeof(double));
    assert_memory_equal(mm.ptr, ((int64_t[]){0, 1, 3}), 3 * sizeof(int64_t));
    trs_mm_free(&mm);
}

static void test_arrays(void **state)
{
    (void)state;
    trs_mm mm;
    assert_read("%%MatrixMarket matrix array real general\n2 2\n1\n2\n\n3 4\n", NULL, &mm);
    assert_int_equal(mm.format, TRS_DENSE);
    assert_memory_equal(mm.val, ((double[]){1, 2, 3, 4}), 4 * sizeof(double));
    trs_mm_free(&mm);
    assert_read("%%MatrixMarket matrix array complex hermitian\n2 2\n1 0\n2 3\n4 0\n", NULL, &mm);
    assert_memory_equal(mm.val, ((double[]){1, 0, 2, 3, 2, -3, 4, 0}), 8 * sizeof(double));
    trs_mm_free(&mm);
    assert_read("%%MatrixMarket matrix array integer skew-symmetric\n3 3\n1\n2\n3\n", NULL, &mm);
    assert_memory_equal(mm.val, ((double[]){0, 1, 2, -1, 0, 3, -2, -3, 0}), 9 * sizeof(double));
    assert_int_equal(mm.nnz, 6);
    trs_mm_free(&mm);
    assert_read("%%MatrixMarket matrix array real symmetric\n2 2\n1\n2\n3\n",
                &(trs_mm_options){.kind = TRS_UPPER}, &mm);
    assert_memory_equal(mm.val, ((double[]){1, 0, 2, 3}), 4 * sizeof(double));
    trs_mm_free(&mm);
}

/* Files without any value, and with text after the last one. */
static void test_empty(void **state)
{
    (void)state;
    trs_mm mm;
    static const char *const text[] = {
        "%%MatrixMarket matrix array real symmetric\n0 0\n\n",
        "%%MatrixMarket matrix array real skew-symmetric\n1 1\n\n",
        "%%MatrixMarket matrix array real general\n0 7\n",
        "%%MatrixMarket matrix coordinate real general\n0 0 0\n% c\n",
        "%%MatrixMarket matrix coordinate complex hermitian\n3 3 0",
        "%%MatrixMarket matrix coordinate pattern general\n0 5 0\n\n",
    };
    for (size_t k = 0; k < sizeof text / sizeof text[0]; k++)
        for (int f = 0; f < 2; f++) {
            assert_read(text[k], &(trs_mm_options){.format = f ? TRS_CSC : TRS_CSR}, &mm);
            assert_int_equal(mm.nnz, 0);
            assert_non_null(mm.val);
            trs_mm_free(&mm);
        }
}

static void test_duplicates(void **state)
{
    (void)state;
    trs_mm mm;
    const char *text = "%%MatrixMarket matrix coordinate real general\n"
                       "2 2 6\n2 2 1\n1 1 0.1\n1 1 0.2\n2 1 5\n1 1 0.3\n2 2 1\n";
    assert_read(text, NULL, &mm);
    assert_memory_equal(mm.val, ((double[]){(0.1 + 0.2) + 0.3, 5, 2}), 3 * sizeof(double));
    assert_memory_equal(mm.ptr, ((int64_t[]){0, 1, 3}), 3 * sizeof(int64_t));
    assert_int_equal(mm.duplicates, 3);
    trs_mm_free(&mm);
    assert_refused(text, &(trs_mm_options){.refuse_duplicates = 1}, TRS_EFORMAT, 5, "(1, 1)");
    /* lines between the two that share their row or their column */
    assert_refused("%%MatrixMarket matrix coordinate real general\n3 3 5\n2 3 1\n2 1 1\n1 3 1\n"
                   "3 2 1\n2 3 1\n",
                   &(trs_mm_options){.refuse_duplicates = 1}, TRS_EFORMAT, 7, "(2, 3)");
    assert_refused("%%MatrixMarket matrix coordinate real symmetric\n2 2 2\n2 1 1\n2 1 1\n",
                   &(trs_mm_options){.refuse_duplicates = 1}, TRS_EFORMAT, 4, "(2, 1)");
    for (int low_memory = 0; low_memory < 2; low_memory++) {
        const trs_mm_options opt = {.format = TRS_CSC, .low_memory = low_memory};
        assert_read("%%MatrixMarket matrix coordinate pattern symmetric\n3 3 5\n3 1\n2 2\n3 1\n"
                    "3 1\n2 2\n",
                    &opt, &mm);
        assert_memory_equal(mm.val, ((double[]){3, 2, 3}), 3 * sizeof(double));
        assert_int_equal(mm.duplicates, 5);
        trs_mm_free(&mm);
    }
}

/* Values of 64 bits, in both formats, with their mirror images and their sums. */
static void test_integers(void **state)
{
    (void)state;
    const trs_mm_options opt = {.integers = 1};
    const int64_t most = INT64_MAX;
    trs_mm mm;
    trs_mat mat;
    assert_read("%%MatrixMarket matrix coordinate integer skew-symmetric\n2 2 3\n"
                "2 1 9223372036854775806\n2 1 +1\n2 2 0\n",
                &opt, &mm);
    assert_int_equal(mm.dtype, TRS_I64);
    assert_memory_equal(mm.val, ((int64_t[]){-most, most, 0}), 3 * sizeof(int64_t));
    assert_int_equal(trs_mm_mat(&mm, 0, &mat), TRS_EARG);
    trs_mm_free(&mm);
    assert_read("%%MatrixMarket matrix array unsigned-integer symmetric\n2 2\n"
                "18446744073709551615 9007199254740993 0\n",
                &opt, &mm);
    assert_int_equal(mm.dtype, TRS_U64);
    const uint64_t u[] = {UINT64_MAX, 9007199254740993, 9007199254740993, 0};
    assert_memory_equal(mm.val, u, sizeof u);
    trs_mm_free(&mm);
    assert_read("%%MatrixMarket matrix coordinate pattern general\n1 1 1\n1 1\n", &opt, &mm);
    assert_true(mm.dtype == TRS_F64 && *(double *)mm.val == 1);
    trs_mm_free(&mm);
    assert_refused("%%MatrixMarket matrix coordinate integer general\n1 1 1\n"
                   "1 1 9223372036854775808\n",
                   &opt, TRS_EFORMAT, 3, "must fit a signed integer of 64 bits");
    assert_refused("%%MatrixMarket matrix coordinate integer general\n1 1 1\n1 1 1.5\n", &opt,
                   TRS_EFORMAT, 3, "a whole number");
    const trs_mat A = {.format = TRS_DENSE, .dtype = TRS_I64, .val = &most, .ld = 1};
    assert_int_equal(trs_mm_write("t_mm-integers.mtx", &A, 1, 1, TRS_GENERAL, NULL), TRS_EARG);
}

static void test_kind(void **state)
{
    (void)state;
    trs_mm mm;
    const char *text =
        "%%MatrixMarket matrix coordinate real symmetric\n2 2 3\n1 1 1\n2 1 2\n2 2 3\n";
    assert_read(text, &(trs_mm_options){.kind = TRS_LOWER}, &mm);
    assert_memory_equal(mm.val, ((double[]){1, 2, 3}), 3 * sizeof(double));
    assert_memory_equal(mm.ptr, ((int64_t[]){0, 1, 3}), 3 * sizeof(int64_t));
    trs_mm_free(&mm);
    assert_read(text, &(trs_mm_options){.kind = TRS_UPPER}, &mm);
    assert_memory_equal(mm.ptr, ((int64_t[]){0, 2, 3}), 3 * sizeof(int64_t));
    trs_mm_free(&mm);
}

/* Only the sizes are read, also of a file whose entries are wrong. */
static void test_header(void **state)
{
    (void)state;
    static const char text[] = "%%MatrixMarket matrix coordinate complex hermitian\n% a comment\n"
                               "7 7 3\n1 1 what\n";
    const trs_mm_options opt = {.header = 1};
    trs_mm mm;
    assert_read(text, &opt, &mm);
    assert_true(mm.rows == 7 && mm.cols == 7 && mm.stored == 3 && mm.nnz == 0);
    assert_true(mm.field == TRS_COMPLEX && mm.symmetry == TRS_HERMITIAN && mm.dtype == TRS_C64);
    assert_true(!mm.ptr && !mm.idx && !mm.row && !mm.val);
    trs_mm_free(&mm);
    assert_refused("%%MatrixMarket matrix coordinate real general\n7 x 3\n", &opt, TRS_EFORMAT, 2,
                   "'x'");
}

static void test_words(void **state)
{
    (void)state;
    trs_mm mm;
    assert_read(
        "%%MatrixMarket matrix coordinate real general\n1 4 4\n1 1 NaN\n1 2 -inf\n1 3 Infinity\n"
        "1 4 -1.5d-3\n",
        NULL, &mm);
    const double *val = mm.val;
    assert_true(isnan(val[0]) && val[1] == -INFINITY && val[2] == INFINITY && val[3] == -1.5e-3);
    trs_mm_free(&mm);
    assert_read("%%MatrixMarket matrix coordinate integer general\n1 4 4\n1 1 9007199254740993\n"
                "1 2 -9007199254740992\n1 3 +5\n1 4 18446744073709551613\n",
                NULL, &mm);
    val = mm.val;
    assert_true(val[0] == 9007199254740992 && val[1] == -9007199254740992 && val[2] == 5);
    assert_true(val[3] == 0x1p64); /* 2^64 - 3, for which there is no double */
    assert_int_equal(mm.rounded, 2);
    trs_mm_free(&mm);
}

static void test_as_trs_mat(void **state)
{
    (void)state;
    trs_mm mm;
    trs_mat mat;
    assert_read("%%MatrixMarket matrix coordinate real general\n" LOWER3, NULL, &mm);
    assert_int_equal(trs_mm_mat(&mm, TRS_LOWER, &mat), TRS_OK);
    assert_true(mat.n == 3 && mat.nnz == 5 && mat.ptr == mm.ptr && mat.kind == TRS_LOWER);
    trs_mm_free(&mm);
    assert_int_equal(trs_mm_mat(&mm, 0, &mat), TRS_EARG);
    assert_read("%%MatrixMarket matrix coordinate real general\n" LOWER3,
                &(trs_mm_options){.format = TRS_COO}, &mm);
    assert_int_equal(trs_mm_mat(&mm, 0, &mat), TRS_EARG);
    trs_mm_free(&mm);
    assert_read("%%MatrixMarket matrix array real general\n2 1\n1\n2\n", NULL, &mm);
    assert_int_equal(trs_mm_mat(&mm, 0, &mat), TRS_EARG);
    trs_mm_free(&mm);
}

/* ---- what is refused ----------------------------------------------------------------------- */

static void test_refusals(void **state)
{
    (void)state;
#define REAL "%%MatrixMarket matrix coordinate real general\n"
    assert_refused(REAL "2 2 1\n1 1 1,5\n", NULL, TRS_EFORMAT, 3, "'1,5'");
    assert_refused(REAL "2 2 1\n1 3 1\n", NULL, TRS_EFORMAT, 3,
                   "column must be a whole number from 1 to 2");
    assert_refused(REAL "2 2 1\n0 1 1\n", NULL, TRS_EFORMAT, 3,
                   "row must be a whole number from 1 to 2");
    assert_refused(REAL "2 2 1\n3 1 1\n", NULL, TRS_EFORMAT, 3, "row must be");
    assert_refused(REAL "2 2 1\n 3  1 1 \n", NULL, TRS_EFORMAT, 3, "row must be");
    assert_refused(REAL "2 2 1\n 1  3 1 \n", NULL, TRS_EFORMAT, 3, "column must be");
    assert_refused(REAL "2 2 1\n1 1 1\n\n1 2 2\n", NULL, TRS_EFORMAT, 5, "more entries than the 1");
    assert_refused(REAL "2 2 2\n1 1 1\n\n", NULL, TRS_EFORMAT, 5, "1 of the 2 entries");
    assert_refused(REAL "2 2 2\n1 1 1", NULL, TRS_EFORMAT, 3, "1 of the 2 entries");
    assert_refused(REAL "2 2 2\n", NULL, TRS_EFORMAT, 3, "0 of the 2 entries");
    assert_refused(REAL "2 2 1000000000000000\n1 1 1\n", NULL, TRS_EFORMAT, 2, "announced");
    assert_refused(REAL "2147483648 2 1\n1 1 1\n", NULL, TRS_ESUPPORT, 2, "below 2^31");
    assert_refused(REAL "2 2 1\n1 1\n", NULL, TRS_EFORMAT, 3, "expected 3 numbers");
    assert_refused(REAL "1 1 1\n1 1 1e400\n", NULL, TRS_EFORMAT, 3, "'1e400'");
    assert_refused("%%MatrixMarket matrix coordinate complex general\n1 1 1\n1 1 1 1\n",
                   &(trs_mm_options){.real_only = 1}, TRS_ESUPPORT, 1, "complex");
    assert_refused("%%MatrixMarket matrix array complex hermitian\n2 2\n1 0\n\n2 3\n4 1\n", NULL,
                   TRS_EFORMAT, 6, "must be real");
    assert_refused("%%MatrixMarket matrix array real general\n2 1\n1\n2\n\n3\n", NULL, TRS_EFORMAT,
                   6, "more values than the");
    assert_refused("%%MatrixMarket matrix array real general\n2 1\n1\n2 % c\n", NULL, TRS_EFORMAT,
                   4, "'%'");
    assert_refused("%%MatrixMarket matrix array real general\n100000 100000\n1\n", NULL,
                   TRS_EFORMAT, 2, "announced");
    assert_refused(REAL "300000 300000 1\n1 1 1\n", &(trs_mm_options){.memory_limit = 2000000},
                   TRS_EMEM, 2, "limit of 2000000 bytes");
}

/* What is no Matrix Market file at all, what is wrong with a banner or the sizes, and entries that break a promise of it. */
static void test_sentences(void **state)
{
    (void)state;
    static const trs_mm_options real = {.real_only = 1}, integers = {.integers = 1};
    static const struct {
        const char *text;
        int code, line;
        const char *words;
        const trs_mm_options *opt;
    } refused[] = {
        {"\xff\xfe%%", TRS_EFORMAT, 1, "UTF-16 text", NULL},
        {"\xfe\xff%%", TRS_EFORMAT, 1, "UTF-16 text", NULL},
        {"<!DOCTYPE html>\n", TRS_EFORMAT, 1, "a web page, not a matrix", NULL},
        {"version https://git-lfs.github.com/spec/v1\n", TRS_EFORMAT, 1, "a git LFS pointer", NULL},
        {"PK\003\004\n", TRS_EFORMAT, 1, "a zip archive", NULL},
        {"%%MatrixMarket matrix array real general\n%\n", TRS_EFORMAT, 3, "ends before the sizes",
         NULL},
        {"1 1 1\n", TRS_EFORMAT, 1, "the first line must be %%MatrixMarket", NULL},
        {"t\n 3 1 1 1\nrua 2 2 2 0\n(8I10)\n", TRS_EFORMAT, 1, "-Boeing", NULL},
        {"%%MatrixMarket\n", TRS_EFORMAT, 1, "the banner is incomplete: the object", NULL},
        {"%%MatrixMarket matrix\n", TRS_EFORMAT, 1, "incomplete: the format must be", NULL},
        {"%%MatrixMarket matrix array\n", TRS_EFORMAT, 1, "incomplete: the field must be", NULL},
        {"%%MatrixMarket matrix array real\n", TRS_EFORMAT, 1, "incomplete: the symmetry", NULL},
        {"%%MatrixMarket vector array real general\n", TRS_EFORMAT, 1, "found 'vector'", NULL},
        {"%%MatrixMarket matrix csr real general\n", TRS_EFORMAT, 1, "found 'csr'", NULL},
        {"%%MatrixMarket matrix array half general\n", TRS_EFORMAT, 1, "found 'half'", NULL},
        {"%%MatrixMarket matrix array real lower\n", TRS_EFORMAT, 1, "found 'lower'", NULL},
        {"%%MatrixMarket matrix array real general 1\n", TRS_EFORMAT, 1, "too many words", NULL},
        {"%%MatrixMarket matrix array real general\r1 1\r1\r", TRS_EFORMAT, 1, "CR alone", NULL},
        {"%%MatrixMarket matrix array pattern general\n", TRS_EFORMAT, 1, "the field pattern",
         NULL},
        {"%%MatrixMarket matrix coordinate pattern skew-symmetric\n", TRS_EFORMAT, 1,
         "cannot be skew-symmetric", NULL},
        {"%%MatrixMarket matrix coordinate pattern hermitian\n", TRS_EFORMAT, 1,
         "cannot be hermitian", NULL},
        {"%%MatrixMarket matrix coordinate complex general\n1 1 1\n1 1 1 1\n", TRS_ESUPPORT, 1,
         "a real matrix is required", &real},
        {REAL "1 1\n", TRS_EFORMAT, 2, "expected rows, columns and entries", NULL},
        {REAL "1 1 1 1\n", TRS_EFORMAT, 2, "too many numbers in the line", NULL},
        {REAL "1 -1 1\n", TRS_EFORMAT, 2, "0 or more", NULL},
        {REAL "1 1 1.0\n1 1 1\n", TRS_EFORMAT, 2, "a whole number", NULL},
        {REAL "1 1 9223372036854775808\n", TRS_EFORMAT, 2, "larger than 2^63", NULL},
        {REAL "1 1 99999999999999999999999\n", TRS_EFORMAT, 2, "larger than 2^63", NULL},
        {REAL "2 2 2\n1 1 1\n" REAL "2 2 1\n2 2 1\n", TRS_EFORMAT, 4, "a second banner", NULL},
        {"%%MatrixMarket matrix coordinate real symmetric\n2 2 1\n1 2 1\n", TRS_EFORMAT, 3,
         "(1, 2) is above the diagonal", NULL},
        {"%%MatrixMarket matrix coordinate real skew-symmetric\n2 2 1\n2 2 1\n", TRS_EFORMAT, 3,
         "diagonal entry 2 of a skew-symmetric matrix must be zero", NULL},
        {"%%MatrixMarket matrix coordinate complex hermitian\n2 2 1\n2 2 1 1\n", TRS_EFORMAT, 3,
         "diagonal entry 2 of a hermitian matrix must be real", NULL},
        {"%%MatrixMarket matrix coordinate real symmetric\n2 3 1\n1 1 1\n", TRS_EFORMAT, 2,
         "only a square matrix", NULL},
        {"%%MatrixMarket matrix coordinate integer general\n3 3 2\n3 2 9223372036854775807\n3 2 "
         "1\n",
         TRS_EFORMAT, 0, "entry (3, 2) occurs more than once, and the sum does not fit", &integers},
    };
    trs_mm mm;
    for (size_t k = 0; k < sizeof refused / sizeof refused[0]; k++)
        assert_refused(refused[k].text, refused[k].opt, refused[k].code, refused[k].line,
                       refused[k].words);
    put_file("a.mtx", "\0\1\2\n", 4);
    assert_int_equal(trs_mm_read(name("a.mtx"), NULL, &mm), TRS_EFORMAT);
    assert_non_null(strstr(trs_message(), "binary data"));
}

static void test_no_file(void **state)
{
    (void)state;
    trs_mm mm;
    assert_int_equal(trs_mm_read(name("none.mtx"), NULL, &mm), TRS_EFILE);
    assert_non_null(strstr(trs_message(), "No such file"));
    assert_int_equal(trs_mm_read(directory, NULL, &mm), TRS_EFILE);
    assert_non_null(strstr(trs_message(), "Is a directory"));
    assert_int_equal(trs_mm_read(NULL, NULL, &mm), TRS_EARG);
    assert_int_equal(trs_mm_read("x", NULL, NULL), TRS_EARG);
    trs_mm_options bad = {.base = 2};
    assert_int_equal(trs_mm_read("x", &bad, &mm), TRS_EARG);
    assert_string_not_equal(trs_message(), "");
}

static void test_locale(void **state)
{
    (void)state;
    trs_mm mm;
    if (!setlocale(LC_ALL, "de_DE.UTF-8") && !setlocale(LC_ALL, "de_DE")) skip();
    assert_read(REAL "1 1 1\n1 1 0.1000000000000000055511151231257827021181583404541015625\n", NULL,
                &mm);
    assert_same(*(double *)mm.val, 0.1);
    trs_mm_free(&mm);
    assert_refused(REAL "1 1 1\n1 1 1,5\n", NULL, TRS_EFORMAT, 3, "'1,5'");
    setlocale(LC_ALL, "C");
}

/* ---- large files --------------------------------------------------------------------------- */

typedef struct text {
    char *p;
    size_t n;
} text;

/* Write an n x n matrix with nnz entries in any order, some of them twice; comments: with blank lines and comments
 * between them. */
static text random_matrix(int n, int nnz, bool comments)
{
    text t = {malloc((size_t)nnz * 48 + 200), 0};
    assert_non_null(t.p);
    t.n = (size_t)sprintf(t.p, REAL "%d %d %d\n", n, n, nnz);
    for (int k = 0; k < nnz; k++) {
        int i = (int)(bits() % (uint64_t)n) + 1, j = (int)(bits() % (uint64_t)n) + 1;
        double x = (double)(int64_t)bits() / 9e18;
        if (comments && k % 3 == 0) t.n += (size_t)sprintf(t.p + t.n, k % 2 ? "\n" : "%% c\n");
        t.n += (size_t)sprintf(t.p + t.n, "%d %d %.17g\n", i, j, x);
    }
    return t;
}

static void read_as(const char *file, trs_format format, int threads, trs_mm *mm)
{
    int rc = trs_mm_read(name(file), &(trs_mm_options){.format = format, .threads = threads}, mm);
    if (rc) print_error("%s\n", trs_message());
    assert_int_equal(rc, TRS_OK);
}

static void assert_equal(const trs_mm *a, const trs_mm *b)
{
    int64_t lines = a->format == TRS_CSC ? a->cols : a->rows;
    size_t nnz = (size_t)a->nnz;
    assert_true(a->nnz == b->nnz && a->duplicates == b->duplicates && a->rows == b->rows);
    if (a->ptr) assert_memory_equal(a->ptr, b->ptr, (size_t)(lines + 1) * 8);
    if (a->idx) assert_memory_equal(a->idx, b->idx, nnz * 4);
    if (a->row) assert_memory_equal(a->row, b->row, nnz * 4);
    assert_memory_equal(a->val, b->val, nnz * 8 * (a->dtype == TRS_C64 ? 2 : 1));
}

/* The result has the same bits for any number of threads, sums of duplicates included, and with low_memory. */
static void test_threads(void **state)
{
    (void)state;
    const struct {
        int n, nnz;
    } shape[] = {{300, 100000}, {50000, 70000}, {3, 30000}};
    for (int s = 0; s < 3; s++) {
        text t = random_matrix(shape[s].n, shape[s].nnz, s == 1);
        put_file("big.mtx", t.p, t.n);
        free(t.p);
        for (int f = 0; f < 3; f++) {
            const trs_format format[] = {TRS_CSR, TRS_CSC, TRS_COO};
            trs_mm one, many;
            read_as("big.mtx", format[f], 1, &one);
            read_as("big.mtx", format[f], 5, &many);
            assert_equal(&one, &many);
            trs_mm_free(&many);
            const trs_mm_options low = {.format = format[f], .threads = 3, .low_memory = 1};
            assert_int_equal(trs_mm_read(name("big.mtx"), &low, &many), TRS_OK);
            assert_equal(&one, &many);
            trs_mm_free(&one);
            trs_mm_free(&many);
        }
    }
}

/* Rows of all lengths, in order or not, with entries given several times or not, are compared with sums made here. */
static void test_order(void **state)
{
    (void)state;
    enum { ROWS = 500, COLS = 90 };
    static double sum[ROWS][COLS];
    static int given[ROWS][COLS];
    char *all = malloc(1 << 20);
    assert_non_null(all);
    for (int trial = 0; trial < 24; trial++) {
        const bool ordered = trial % 2, twins = trial / 2 % 2;
        char body[200], *p = all + 100;
        int64_t stored = 0, nnz = 0, at = 0;
        memset(sum, 0, sizeof sum);
        memset(given, 0, sizeof given);
        for (int i = 0; i < ROWS; i++)
            for (int k = 0, n = (int)(bits() % 4 * bits() % (i % 9 ? 9 : COLS)); k < n; k++) {
                int j = ordered ? k : (int)(bits() % COLS);
                if (given[i][j] && !twins) continue;
                for (int times = twins && bits() % 50 == 0 ? 2 : 1; times > 0; times--, stored++) {
                    double x = (double)(bits() % 100000) / 1024;
                    p += sprintf(p, "%d %d %.17g\n", i + 1, j + 1, x);
                    nnz += !given[i][j];
                    given[i][j] = 1;
                    sum[i][j] += x;
                }
            }
        int head = sprintf(body, "%%%%MatrixMarket matrix coordinate real general\n%d %d %d\n",
                           ROWS, COLS, (int)stored);
        memcpy(all + 100 - head, body, (size_t)head);
        put_file("a.mtx", all + 100 - head, (size_t)(p - all) - 100 + (size_t)head);
        trs_mm mm;
        read_as("a.mtx", TRS_CSR, 1 + trial % 3, &mm);
        const double *val = mm.val;
        assert_int_equal(mm.nnz, nnz);
        assert_int_equal(mm.duplicates, stored - nnz);
        for (int i = 0; i < ROWS; i++)
            for (int j = 0; j < COLS; j++) {
                if (!given[i][j]) continue;
                assert_true(at >= mm.ptr[i] && at < mm.ptr[i + 1]);
                assert_int_equal(mm.idx[at], j);
                assert_same(val[at++], sum[i][j]);
            }
        assert_int_equal(at, nnz);
        trs_mm_free(&mm);
    }
    free(all);
}

static int lines_before(const char *p, const char *end)
{
    int n = 0;
    for (; p < end; p++) n += *p == '\n';
    return n;
}

/* The same entries are read from compact lines, from others, and from both in turn. */
static void test_compact_lines(void **state)
{
    (void)state;
    static const char *const form[] = {
        "%d %d %s\n",   "%d  %d %s\n",    "%d %d %s\r\n",      "%d\t%d %s\n",
        "%d %d\t%s \n", "  %d %08d %s\n", "%% x\n%d %d +%s\n", "%d %d %s0000000000000000000\n"};
    const int n = 99999, nnz = 30000, forms = sizeof form / sizeof form[0];
    char *all = malloc((size_t)nnz * 80 + 100), value[40];
    trs_mm compact, other;
    assert_non_null(all);
    for (int f = 0; f <= forms; f++) {
        const uint64_t kept = seed;
        char *p = all;
        p += sprintf(p, "%%%%MatrixMarket matrix coordinate real general\n%d %d %d\n", n, n, nnz);
        for (int k = 0; k < nnz; k++) {
            int i = (int)(bits() % (uint64_t)n) + 1, j = (int)(bits() % (uint64_t)n) + 1;
            snprintf(value, sizeof value, "0.%0*llu", 1 + k % 18,
                     (unsigned long long)(bits() % 1000000000));
            const int mixed = k % 7 ? 0 : k % forms;
            p += sprintf(p, form[f < forms ? f : mixed], i, j, value);
        }
        put_file("a.mtx", all, (size_t)(p - all));
        seed = kept;
        read_as("a.mtx", TRS_CSR, 1 + f % 2, f ? &other : &compact);
        if (f) assert_equal(&compact, &other);
        if (f) trs_mm_free(&other);
    }
    trs_mm_free(&compact);
    free(all);
}

/* A line among compact ones that is none, although numbers of the right count and size are there or near. */
static void test_wrong_lines(void **state)
{
    (void)state;
    static const char *const field[] = {"pattern", "real", "complex"};
    static const char *const wrong[3][8] = {
        {"1\n2", "1 2 3", "1 2 3 4", "1", "0 1", "1 100", "1-2", "1 2-"},
        {"1\n2 5", "1 2\n5", "1 2 5 6", "1 2 3 4 5 6", "1 2", "1 2 5-", "1 2 5\t6", "1 2,5"},
        {"1\n2 5 6", "1 2\n5 6", "1 2 5\n6", "1 2 5", "1 2 5 6 7", "1 2 3 4 5 6 7 8", "1 2 5 6\t7",
         "1 2 5-6"}};
    for (int parts = 0; parts < 3; parts++)
        for (int k = 0; k < 8; k++) {
            char lines[2000], *to = lines;
            to += sprintf(to, "%%%%MatrixMarket matrix coordinate %s general\n99 99 40\n",
                          field[parts]);
            for (int row = 1; row <= 40; row++) {
                const char *const rest[] = {"", " 0.5", " 0.5 -2"};
                if (row == 20) to += sprintf(to, "%s\n", wrong[parts][k]);
                else to += sprintf(to, "%d %d%s\n", row, 2 * row, rest[parts]);
            }
            assert_refused(lines, NULL, TRS_EFORMAT, 22, "");
        }
}

/* Of several errors deep in a large file the first one is reported, with its line. */
static void test_far_errors(void **state)
{
    (void)state;
    text t = random_matrix(1000, 60000, true);
    for (int k = 0; k < 40; k++) {
        char begin[120];
        size_t at = t.n / 10 + bits() % (t.n / 2), later = t.n - 100;
        while (t.p[at - 1] == '\n' || t.p[at] == '\n' || t.p[at] == '%' || t.p[at - 1] == '%') at++;
        char saved = t.p[at], saved2 = t.p[later];
        t.p[at] = t.p[later] = 'x';
        put_file("big.mtx", t.p, t.n);
        bool comment = false;
        for (size_t p = at; p > 0 && t.p[p - 1] != '\n'; p--) comment |= t.p[p - 1] == '%';
        t.p[at] = saved;
        t.p[later] = saved2;
        if (comment) continue;
        trs_mm mm;
        snprintf(begin, sizeof begin, "%s:%d: ", name("big.mtx"), lines_before(t.p, t.p + at) + 1);
        assert_int_equal(trs_mm_read(name("big.mtx"), &(trs_mm_options){.threads = 1 + k % 4}, &mm),
                         TRS_EFORMAT);
        assert_memory_equal(trs_message(), begin, strlen(begin));
    }
    /* one entry too many, on the line after the last one that was announced */
    char *count = strstr(t.p, "60000");
    memcpy(count, "30000", 5);
    put_file("big.mtx", t.p, t.n);
    int entries = 0, line = 2;
    for (char *p = strchr(count, '\n') + 1; entries <= 30000; p = strchr(p, '\n') + 1, line++)
        entries += *p != '\n' && *p != '%';
    for (int threads = 1; threads < 4; threads++) {
        trs_mm mm;
        char begin[120];
        snprintf(begin, sizeof begin, "%s:%d: ", name("big.mtx"), line);
        assert_int_equal(trs_mm_read(name("big.mtx"), &(trs_mm_options){.threads = threads}, &mm),
                         TRS_EFORMAT);
        assert_memory_equal(trs_message(), begin, strlen(begin));
    }
    free(t.p);
}

/* ---- streams and archives ------------------------------------------------------------------ */

/* Lines that are longer than a text is meant to be, and that end near its end. */
static void test_long_lines(void **state)
{
    (void)state;
    enum { N = 40, LONG = 300000 };
    char *p = malloc((size_t)N * (LONG + 100) + 200);
    assert_non_null(p);
    size_t n = (size_t)sprintf(p, REAL "%d 1 %d\n", N, N);
    for (int k = 1; k <= N; k++) {
        size_t fill = bits() % LONG;
        if (k % 3 == 0) p[n++] = '%';
        memset(p + n, "c\n "[k % 3], fill); /* a comment, empty lines, blanks */
        n += fill;
        n += (size_t)sprintf(p + n, "%s%d 1 %d.5", k % 3 ? "" : "\n", k, k);
        n += (size_t)sprintf(p + n, k < N ? "\r\n" : "\r");
    }
    put_file("big.mtx", p, n);
    free(p);
    for (int threads = 1; threads <= 3; threads++)
        for (int stream = 0; stream < 2; stream++) {
            trs_mm mm;
            if (stream) assert_non_null(freopen(name("big.mtx"), "r", stdin));
            trs_mm_options opt = {.threads = threads};
            int rc = trs_mm_read(stream ? "-" : name("big.mtx"), &opt, &mm);
            if (rc) print_error("%s\n", trs_message());
            assert_int_equal(rc, TRS_OK);
            assert_int_equal(mm.nnz, N);
            for (int k = 0; k < N; k++) assert_same(((double *)mm.val)[k], k + 1.5);
            trs_mm_free(&mm);
        }
}

static void test_standard_input(void **state)
{
    (void)state;
    text t = random_matrix(500, 60000, true);
    trs_mm a, b;
    put_file("big.mtx", t.p, t.n);
    read_as("big.mtx", TRS_CSR, 2, &a);
    assert_non_null(freopen(name("big.mtx"), "r", stdin));
    assert_int_equal(trs_mm_read("-", &(trs_mm_options){.threads = 2}, &b), TRS_OK);
    assert_equal(&a, &b);
    trs_mm_free(&a);
    trs_mm_free(&b);
    free(t.p);
}

#ifdef HAVE_LIBARCHIVE
static struct archive *start_archive(const char *file, int filter, bool tar)
{
    struct archive *a = archive_write_new();
    if (tar) archive_write_set_format_ustar(a);
    else archive_write_set_format_raw(a);
    assert_true(archive_write_add_filter(a, filter) >= ARCHIVE_WARN);
    assert_int_equal(archive_write_open_filename(a, name(file)), ARCHIVE_OK);
    return a;
}

static void add_member(struct archive *a, const char *member, const char *p, size_t n)
{
    struct archive_entry *e = archive_entry_new();
    archive_entry_set_pathname(e, member);
    archive_entry_set_size(e, (la_int64_t)n);
    archive_entry_set_filetype(e, AE_IFREG);
    archive_entry_set_perm(e, 0644);
    assert_int_equal(archive_write_header(a, e), ARCHIVE_OK);
    assert_int_equal(archive_write_data(a, p, n), n);
    archive_entry_free(e);
}

static void test_packed(void **state)
{
    (void)state;
    const int filter[] = {ARCHIVE_FILTER_GZIP, ARCHIVE_FILTER_XZ, ARCHIVE_FILTER_ZSTD,
                          ARCHIVE_FILTER_BZIP2};
    text t = random_matrix(500, 20000, true);
    trs_mm a, b;
    put_file("big.mtx", t.p, t.n);
    read_as("big.mtx", TRS_CSR, 1, &a);
    for (int f = 0; f < 4; f++) {
        struct archive *w = start_archive("packed", filter[f], false);
        add_member(w, "data", t.p, t.n);
        archive_write_free(w);
        read_as("packed", TRS_CSR, 2, &b);
        assert_equal(&a, &b);
        trs_mm_free(&b);
        trs_mm_options small = {.memory_limit = 300000};
        assert_int_equal(trs_mm_read(name("packed"), &small, &b), TRS_EMEM);
        assert_int_equal(truncate(name("packed"), 20000), 0);
        assert_true(trs_mm_read(name("packed"), NULL, &b) != TRS_OK);
        assert_string_not_equal(trs_message(), "");
    }
    trs_mm_free(&a);
    free(t.p);
}

static void test_collection_archive(void **state)
{
    (void)state;
    const char *A = REAL "1 1 1\n1 1 5\n", *x = REAL "1 1 1\n1 1 6\n";
    const char *b = "%%MatrixMarket matrix array real general\n1 1\n7\n";
    trs_mm mm;
    struct archive *w = start_archive("N.tar.gz", ARCHIVE_FILTER_GZIP, true);
    add_member(w, "N/readme", "text", 4);
    add_member(w, "N/N_x.mtx", x, strlen(x));
    add_member(w, "N/N_b.mtx", b, strlen(b));
    add_member(w, "N/N.mtx", A, strlen(A));
    archive_write_free(w);
    assert_int_equal(trs_mm_read(name("N.tar.gz"), NULL, &mm), TRS_OK);
    assert_same(*(double *)mm.val, 5);
    trs_mm_free(&mm);
    assert_int_equal(trs_mm_read(name("N.tar.gz"), &(trs_mm_options){.rhs = 1}, &mm), TRS_OK);
    assert_same(*(double *)mm.val, 7);
    trs_mm_free(&mm);
    w = start_archive("M.tar.xz", ARCHIVE_FILTER_XZ, true);
    add_member(w, "other/thing.mtx", x, strlen(x));
    archive_write_free(w);
    assert_int_equal(trs_mm_read(name("M.tar.xz"), NULL, &mm), TRS_OK);
    assert_same(*(double *)mm.val, 6);
    trs_mm_free(&mm);
    assert_int_equal(trs_mm_read(name("M.tar.xz"), &(trs_mm_options){.rhs = 1}, &mm), TRS_EFILE);
    w = start_archive("O.tar", ARCHIVE_FILTER_NONE, true);
    add_member(w, "readme", "text", 4);
    archive_write_free(w);
    assert_int_equal(trs_mm_read(name("O.tar"), NULL, &mm), TRS_EFILE);
    assert_non_null(strstr(trs_message(), "no matrix"));
}

/* A file of a few kilobytes that unpacks to 64 MB of comments is refused at the limit. */
static void test_bomb(void **state)
{
    (void)state;
    static char zeros[1 << 20];
    trs_mm mm;
    memset(zeros, 'x', sizeof zeros);
    struct archive *w = start_archive("bomb", ARCHIVE_FILTER_GZIP, false);
    struct archive_entry *e = archive_entry_new();
    archive_entry_set_filetype(e, AE_IFREG);
    archive_write_header(w, e);
    archive_write_data(w, REAL "%", strlen(REAL) + 1);
    for (int k = 0; k < 64; k++) archive_write_data(w, zeros, sizeof zeros);
    archive_entry_free(e);
    archive_write_free(w);
    assert_int_equal(trs_mm_read(name("bomb"), &(trs_mm_options){.memory_limit = 8 << 20}, &mm),
                     TRS_EMEM);
    assert_non_null(strstr(trs_message(), "more than 8388608 bytes"));
}
#endif

static int files_left(void)
{
    int n = 0;
    DIR *d = opendir(directory);
    for (struct dirent *e; d && (e = readdir(d));) n += e->d_name[0] != '.';
    if (d) closedir(d);
    return n;
}

/* ---- memory that fails --------------------------------------------------------------------- */

static struct {
    int64_t calls, fail_at, alive;
} counter;

static void *counting_alloc(void *user, size_t n)
{
    (void)user;
    if (++counter.calls == counter.fail_at) return NULL;
    counter.alive++;
    return malloc(n);
}

static void counting_free(void *user, void *p)
{
    (void)user;
    counter.alive -= p != NULL;
    free(p);
}

/* Each allocation fails once: there must be a status and a sentence, and nothing may be left behind. */
static void fail_each(const char *file, trs_format format, int threads)
{
    trs_mm_options opt = {.format = format,
                          .threads = threads,
                          .low_memory = format == TRS_CSC,
                          .memory = {.alloc = counting_alloc, .free = counting_free}};
    int rc = TRS_EMEM;
    for (counter.fail_at = 1; rc; counter.fail_at++) {
        trs_mm mm;
        counter.calls = counter.alive = 0;
        rc = trs_mm_read(name(file), &opt, &mm);
        assert_true(rc == TRS_OK || rc == TRS_EMEM);
        assert_true(rc == TRS_OK || (mm.val == NULL && trs_message()[0]));
        trs_mm_free(&mm);
        assert_int_equal(counter.alive, 0);
        assert_in_range(counter.fail_at, 1, 1000);
    }
}

static void test_failing_memory(void **state)
{
    (void)state;
    text t = random_matrix(40, 9000, true); /* two texts */
    put_file("big.mtx", t.p, t.n);
    for (int threads = 1; threads < 4; threads += 2) {
        fail_each("big.mtx", TRS_CSR, threads);
        fail_each("big.mtx", TRS_CSC, threads);
        fail_each("big.mtx", TRS_COO, threads);
    }
    put_file("small.mtx", "%%MatrixMarket matrix array real general\n1 1\n\n5\n",
             strlen("%%MatrixMarket matrix array real general\n1 1\n\n5\n"));
    fail_each("small.mtx", TRS_CSR, 1);
#ifdef HAVE_LIBARCHIVE
    struct archive *w = start_archive("packed", ARCHIVE_FILTER_GZIP, false);
    add_member(w, "data", t.p, t.n);
    archive_write_free(w);
    fail_each("packed", TRS_CSC, 2);
#endif
    free(t.p);
}

/* malloc of this program and of the objects linked into it (-Wl,--wrap=malloc), for functions that take no
 * trs_memory. */
static int malloc_fail_at, malloc_calls; /* malloc_fail_at = 0: none fails */

void *__real_malloc(size_t n);
void *__wrap_malloc(size_t n);

void *__wrap_malloc(size_t n)
{
    int call = malloc_fail_at ? __atomic_add_fetch(&malloc_calls, 1, __ATOMIC_RELAXED) : -1;
    return call == malloc_fail_at ? NULL : __real_malloc(n);
}

static void test_failing_memory_of_writer(void **state)
{
    (void)state;
    text t = random_matrix(400, 30000, false);
    trs_mm mm;
    trs_mat A;
    put_file("big.mtx", t.p, t.n);
    free(t.p);
    read_as("big.mtx", TRS_CSR, 1, &mm);
    assert_int_equal(trs_mm_mat(&mm, 0, &A), TRS_OK);
    int rc = TRS_EMEM, before = files_left(), failed = 0;
    for (int k = 1; rc; k++) {
        malloc_calls = 0;
        malloc_fail_at = k;
        rc = trs_mm_write(name("out.mtx"), &A, mm.rows, mm.cols, TRS_GENERAL, "comment");
        malloc_fail_at = 0;
        assert_true(rc == TRS_OK || (rc == TRS_EMEM && strstr(trs_message(), "out of memory")));
        if (rc) failed++, assert_int_equal(files_left(), before);
    }
    assert_in_range(failed, 3, 20); /* the head, the name, and a buffer for each thread */
    unlink(name("out.mtx"));
    trs_mm_free(&mm);
}

/* ---- memory that is given back ------------------------------------------------------------------ */

/* The most kilobytes that a process had which reads big.mtx as a stream; 0: it failed. */
static int64_t most_memory(int low_memory)
{
    int end[2];
    int64_t most = 0;
    assert_int_equal(pipe(end), 0);
    pid_t child = fork();
    if (child == 0) {
        trs_mm mm;
        struct rusage used;
        const trs_mm_options opt = {.threads = 1, .low_memory = low_memory};
        bool good = freopen(name("big.mtx"), "r", stdin) && trs_mm_read("-", &opt, &mm) == TRS_OK;
        getrusage(RUSAGE_SELF, &used);
        most = good ? used.ru_maxrss : 0;
        _exit(write(end[1], &most, sizeof most) != sizeof most);
    }
    assert_true(child > 0 && read(end[0], &most, sizeof most) == sizeof most);
    assert_true(waitpid(child, NULL, 0) == child);
    close(end[0]), close(end[1]);
    return most;
}

/* Reading needs memory for the entries twice, as they were parsed and as they are placed; with low_memory hardly more
 * than once. */
static void test_low_memory(void **state)
{
    (void)state;
    enum { N = 1500000, COPIES = 20, ONE = N / 1024 * 12 }; /* ONE: kilobytes of them once */
    text t = random_matrix(1000, N / COPIES, false);
    const char *entries = strchr(strchr(t.p, '\n') + 1, '\n') + 1;
    const size_t bytes = t.n - (size_t)(entries - t.p);
    char *all = malloc(bytes * COPIES + 200);
    assert_non_null(all);
    size_t n = (size_t)sprintf(all, REAL "1000 1000 %d\n", N);
    for (int k = 0; k < COPIES; k++, n += bytes) memcpy(all + n, entries, bytes);
    put_file("big.mtx", all, n);
    free(all);
    free(t.p);
#if defined(__SANITIZE_ADDRESS__) || !defined(__linux__)
    skip();
#endif
    int64_t normal = most_memory(0), low = most_memory(1);
    print_message("# %d kB normally, %d kB with low_memory\n", (int)normal, (int)low);
    assert_true(low > 0 && normal - low > ONE * 4 / 10); /* huge pages make this uncertain */
}

/* ---- progress ------------------------------------------------------------------------------ */

static int watch(void *user, double done)
{
    double *last = user;
    assert_true(done >= *last && done <= 1);
    *last = done;
    return 0;
}

static int stop_at_once(void *user, double done)
{
    (void)user, (void)done;
    return 1;
}

static void test_progress(void **state)
{
    (void)state;
    double last = 0;
    trs_mm mm;
    text t = random_matrix(500, 60000, false);
    put_file("big.mtx", t.p, t.n);
    free(t.p);
    assert_int_equal(
        trs_mm_read(name("big.mtx"), &(trs_mm_options){.progress = watch, .user = &last}, &mm),
        TRS_OK);
    assert_true(last == 1);
    trs_mm_free(&mm);
    assert_int_equal(trs_mm_read(name("big.mtx"), &(trs_mm_options){.progress = stop_at_once}, &mm),
                     TRS_ECANCELED);
    assert_non_null(strstr(trs_message(), "canceled"));
}

/* ---- writing ------------------------------------------------------------------------------- */

static void test_write_and_read(void **state)
{
    (void)state;
    trs_mm a, b;
    trs_mat mat;
    text t = random_matrix(3000, 60000, false);
    put_file("big.mtx", t.p, t.n);
    free(t.p);
    const trs_format format[] = {TRS_CSR, TRS_CSC};
    for (int f = 0; f < 2; f++) {
        read_as("big.mtx", format[f], 0, &a);
        assert_int_equal(trs_mm_mat(&a, 0, &mat), TRS_OK);
        assert_int_equal(
            trs_mm_write(name("out.mtx"), &mat, a.rows, a.cols, TRS_GENERAL, "two\nlines"), TRS_OK);
        read_as("out.mtx", format[f], 0, &b);
        a.duplicates = 0; /* the file that was written has none */
        assert_equal(&a, &b);
        assert_int_equal(b.size_line, 4);
        trs_mm_free(&a);
        trs_mm_free(&b);
    }
}

/* A comment of many lines is written whole, and skipped by the reader. */
static void test_long_comment(void **state)
{
    (void)state;
    enum { LINES = 100 };
    char comment[LINES * 8 + 1] = "", is[2000] = {0};
    for (int k = 0; k < LINES; k++) strcat(comment, "comment\n");
    const int64_t ptr[] = {0, 1};
    const int32_t idx[] = {0};
    const double val[] = {2};
    const trs_mat A = {.n = 1, .nnz = 1, .ptr = ptr, .idx = idx, .val = val};
    assert_int_equal(trs_mm_write(name("out.mtx"), &A, 1, 1, TRS_GENERAL, comment), TRS_OK);
    FILE *f = fopen(name("out.mtx"), "r");
    assert_non_null(f);
    assert_true(fread(is, 1, sizeof is - 1, f) > LINES * 9);
    fclose(f);
    int found = 0;
    for (const char *p = is; (p = strstr(p, "% comment\n")); p++) found++;
    assert_int_equal(found, LINES);
    trs_mm mm;
    read_as("out.mtx", TRS_CSR, 0, &mm);
    assert_true(mm.rows == 1 && mm.nnz == 1);
    trs_mm_free(&mm);
}

static void assert_written(const trs_mat *A, int64_t rows, int64_t cols, trs_symmetry s,
                           const char *must)
{
    char is[1000] = {0};
    int rc = trs_mm_write(name("out.mtx"), A, rows, cols, s, NULL);
    if (rc) print_error("%s\n", trs_message());
    assert_int_equal(rc, TRS_OK);
    FILE *f = fopen(name("out.mtx"), "r");
    assert_non_null(f);
    assert_true(fread(is, 1, sizeof is - 1, f) > 0);
    fclose(f);
    assert_string_equal(is, must);
}

static void test_written_text(void **state)
{
    (void)state;
    const double v[] = {1, 0, 0.1, -2.5, 3, 1e300};
    const float s[] = {1, 0.1f, 3};
    const int32_t ptr32[] = {1, 2, 4}, idx32[] = {1, 1, 2};
    const int64_t ptr64[] = {0, 1, 3}, idx64[] = {0, 0, 1};
    trs_mat c64 = {
        .n = 2, .nnz = 3, .ptr = ptr64, .idx = idx64, .val = v, .idx_bits = 64, .dtype = TRS_C64};
    assert_written(&c64, 2, 2, TRS_GENERAL,
                   "%%MatrixMarket matrix coordinate complex general\n2 2 3\n1 1 1 0\n2 1 0.1 "
                   "-2.5\n2 2 3 1e300\n");
    trs_mat f32 = {.n = 2,
                   .nnz = 3,
                   .ptr = ptr32,
                   .idx = idx32,
                   .val = s,
                   .ptr_bits = 32,
                   .base = 1,
                   .dtype = TRS_F32,
                   .format = TRS_CSC};
    assert_written(&f32, 2, 2, TRS_GENERAL,
                   "%%MatrixMarket matrix coordinate real general\n2 2 3\n1 1 1\n1 2 0.1\n2 2 3\n");
    assert_written(&f32, 2, 2, TRS_SYMMETRIC,
                   "%%MatrixMarket matrix coordinate real symmetric\n2 2 2\n1 1 1\n2 2 3\n");
    trs_mat dense = {.n = 2, .val = v, .ld = 3, .format = TRS_DENSE};
    assert_written(&dense, 2, 2, TRS_GENERAL,
                   "%%MatrixMarket matrix array real general\n2 2\n1\n0\n-2.5\n3\n");
    assert_written(&dense, 2, 2, TRS_SKEW,
                   "%%MatrixMarket matrix array real skew-symmetric\n2 2\n0\n");
    assert_written(&dense, 0, 0, TRS_GENERAL, "%%MatrixMarket matrix array real general\n0 0\n");
}

/* A name of an open descriptor: what is written goes behind what is there, also if the descriptor has two digits. */
static void test_write_to_descriptor(void **state)
{
    (void)state;
    static const char must[] = "ab%%MatrixMarket matrix array real general\n1 1\n1\n";
    static const char *const folder[] = {"/dev/fd/", "/proc/self/fd/"};
    const double v[] = {1};
    const trs_mat A = {.n = 1, .val = v, .ld = 1, .format = TRS_DENSE};
    for (int k = 0; k < 4; k++) {
        char is[sizeof must] = {0}, to[40];
        FILE *f = fopen(name("out.mtx"), "w+");
        assert_non_null(f);
        const int fd = fcntl(fileno(f), F_DUPFD, k < 2 ? 3 : 10);
        assert_int_equal(write(fd, "ab", 2), 2);
        snprintf(to, sizeof to, "%s%d", folder[k % 2], fd);
        if (access(to, W_OK)) skip();
        assert_int_equal(trs_mm_write(to, &A, 1, 1, TRS_GENERAL, NULL), TRS_OK);
        close(fd);
        rewind(f);
        assert_int_equal(fread(is, 1, sizeof is, f), sizeof must - 1);
        assert_string_equal(is, must);
        fclose(f);
    }
}

static void test_write_failures(void **state)
{
    (void)state;
    const double v[100] = {1};
    trs_mat A = {.n = 1, .val = v, .ld = 1, .format = TRS_DENSE};
    int before = files_left();
    assert_int_equal(trs_mm_write(name("none/x.mtx"), &A, 1, 1, TRS_GENERAL, NULL), TRS_EFILE);
    assert_non_null(strstr(trs_message(), "No such file"));
    assert_int_equal(trs_mm_write(directory, &A, 1, 1, TRS_GENERAL, NULL), TRS_EFILE);
    if (access("/dev/full", W_OK) == 0)
        assert_int_equal(trs_mm_write("/dev/full", &A, 1, 1, TRS_GENERAL, NULL), TRS_EFILE);
    assert_int_equal(trs_mm_write("/dev/null", &A, 1, 1, TRS_GENERAL, NULL), TRS_OK);
    if (access("/dev/shm", W_OK) == 0) { /* a folder like any other */
        assert_int_equal(trs_mm_write("/dev/shm/t_mm.mtx", &A, 1, 1, TRS_GENERAL, NULL), TRS_OK);
        assert_int_equal(unlink("/dev/shm/t_mm.mtx"), 0);
    }
    const int64_t ptr[] = {0, 1};
    const int32_t idx[] = {5};
    trs_mat bad = {.n = 1, .nnz = 1, .ptr = ptr, .idx = idx, .val = v};
    assert_int_equal(trs_mm_write(name("y.mtx"), &bad, 1, 1, TRS_GENERAL, NULL), TRS_EARG);
    assert_non_null(strstr(trs_message(), "entry 0 has an index out of range"));
    static const int64_t starts[][3] = {{-1, 0, 1}, {1, 1, 2}}; /* of the rows, base 0 */
    static const int32_t first[] = {0, 1};
    bad = (trs_mat){.n = 2, .nnz = 1, .idx = first, .val = v};
    for (int k = 0; k < 2; k++) {
        bad.ptr = starts[k];
        assert_int_equal(trs_mm_write(name("y.mtx"), &bad, 2, 2, TRS_GENERAL, NULL), TRS_EARG);
        assert_non_null(strstr(trs_message(), "the first pointer"));
    }
    const struct {
        trs_mat A;
        int64_t rows, cols;
        int symmetry;
        const char *words;
    } wrong[] = {
        {A, 2, 1, TRS_SYMMETRIC, "only a square matrix"},
        {A, 1, 1, TRS_HERMITIAN, "Hermitian without complex numbers"},
        {A, 1, 1, TRS_HERMITIAN + 1, "unknown symmetry"},
        {A, 2, 1, TRS_GENERAL, "ld is less"},
        {A, -1, 1, TRS_GENERAL, "out of range"},
        {{.n = 1, .ld = 1, .format = TRS_DENSE}, 1, 1, TRS_GENERAL, "an array is NULL"},
        {{.n = 1, .val = v, .ld = 1, .format = TRS_DENSE, .base = 2}, 1, 1, 0, "out of range"},
        {{.n = 1, .val = v, .ld = 1, .format = TRS_DENSE, .dtype = TRS_I64},
         1,
         1,
         0,
         "or integers"},
        {{.n = 1, .val = v, .format = TRS_BSR}, 1, 1, TRS_GENERAL, "only CSR, CSC and DENSE"},
    };
    for (size_t k = 0; k < sizeof wrong / sizeof wrong[0]; k++) {
        assert_int_equal(trs_mm_write(name("y.mtx"), &wrong[k].A, wrong[k].rows, wrong[k].cols,
                                      (trs_symmetry)wrong[k].symmetry, NULL),
                         TRS_EARG);
        assert_non_null(strstr(trs_message(), wrong[k].words));
    }
    assert_int_equal(trs_mm_write(NULL, &A, 2, 1, TRS_GENERAL, NULL), TRS_EARG);
    assert_int_equal(files_left(), before);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_hard_numbers),
        cmocka_unit_test(test_halfway),
        cmocka_unit_test(test_long_halfway),
        cmocka_unit_test(test_random_numbers),
        cmocka_unit_test(test_plain_numbers),
        cmocka_unit_test(test_not_numbers),
        cmocka_unit_test(test_compact_lines),
        cmocka_unit_test(test_delimiters),
        cmocka_unit_test(test_order),
        cmocka_unit_test(test_shortest),
        cmocka_unit_test(test_csr),
        cmocka_unit_test(test_csc_and_coo),
        cmocka_unit_test(test_symmetries),
        cmocka_unit_test(test_arrays),
        cmocka_unit_test(test_empty),
        cmocka_unit_test(test_duplicates),
        cmocka_unit_test(test_integers),
        cmocka_unit_test(test_kind),
        cmocka_unit_test(test_header),
        cmocka_unit_test(test_words),
        cmocka_unit_test(test_as_trs_mat),
        cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_sentences),
        cmocka_unit_test(test_no_file),
        cmocka_unit_test(test_locale),
        cmocka_unit_test(test_threads),
        cmocka_unit_test(test_wrong_lines),
        cmocka_unit_test(test_far_errors),
        cmocka_unit_test(test_long_lines),
        cmocka_unit_test(test_standard_input),
#ifdef HAVE_LIBARCHIVE
        cmocka_unit_test(test_packed),
        cmocka_unit_test(test_collection_archive),
        cmocka_unit_test(test_bomb),
#endif
        cmocka_unit_test(test_failing_memory),
        cmocka_unit_test(test_failing_memory_of_writer),
        cmocka_unit_test(test_low_memory),
        cmocka_unit_test(test_progress),
        cmocka_unit_test(test_write_and_read),
        cmocka_unit_test(test_long_comment),
        cmocka_unit_test(test_written_text),
        cmocka_unit_test(test_write_to_descriptor),
        cmocka_unit_test(test_write_failures),
    };
    return cmocka_run_group_tests_name("mm", tests, make_directory, remove_directory);
}
