/* t_problems.c: the made triangles are what their kinds say: lower triangles, diagonally dominant, of the size and
 * depth that a formula gives, the same for the same seed; factors are compared with the matrix that they are factors
 * of.  A binary file that is read is what was written, and a damaged one is refused. */
#include "config.h"

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "tests/common/report.h"

#include "bin/common/binary.h"
#include "bin/common/problems/mesh.h"
#include "bin/common/problems/problems.h"
#include "bin/common/sentence.h"
#ifdef HAVE_CHOLMOD
#include "trisolve-suitesparse.h"
#endif

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- helpers ----------------------------------------------------------------------------- */

static bool is_factor(const char *kind)
{
    return !strncmp(kind, "lu", 2);
}

static trs_mm make(const char *kind, int64_t size, const problem_options *opt)
{
    trs_mm mm;
    int rc = problem_make(kind, size, opt, &mm);
    if (rc) print_error("%s %lld: %s\n", kind, (long long)size, said());
    assert_int_equal(rc, TRS_OK);
    return mm;
}

/* CSR, base 0, columns ascending, the diagonal last in every row and not zero. */
static void assert_triangle(const trs_mm *mm)
{
    const double *val = mm->val;
    assert_int_equal(mm->format, TRS_CSR);
    assert_int_equal(mm->base, 0);
    assert_int_equal(mm->rows, mm->cols);
    assert_int_equal(mm->stored, mm->nnz);
    assert_int_equal(mm->ptr[0], 0);
    assert_int_equal(mm->ptr[mm->rows], mm->nnz);
    for (int64_t i = 0; i < mm->rows; i++) {
        assert_true(mm->ptr[i] < mm->ptr[i + 1]);
        for (int64_t p = mm->ptr[i]; p < mm->ptr[i + 1]; p++) {
            assert_true(mm->idx[p] >= 0 && isfinite(val[p]));
            assert_true(p == mm->ptr[i] || mm->idx[p] > mm->idx[p - 1]);
        }
        assert_int_equal(mm->idx[mm->ptr[i + 1] - 1], i);
        assert_true(val[mm->ptr[i + 1] - 1] != 0);
    }
}

/* The largest, over the rows, of sum |l(i,j)|, j < i, to |l(i,i)|. */
static double dominance(const trs_mm *mm)
{
    const double *val = mm->val;
    double worst = 0;
    for (int64_t i = 0; i < mm->rows; i++) {
        double sum = 0;
        int64_t p = mm->ptr[i];
        for (; p < mm->ptr[i + 1] - 1; p++) sum += fabs(val[p]);
        worst = larger(worst, sum / fabs(val[p]));
    }
    return worst;
}

/* level(i) = 1 + the largest level of the rows that row i needs. */
static int64_t levels(const trs_mm *mm)
{
    int64_t count = 0, *level = calloc((size_t)mm->rows + 1, sizeof *level);
    assert_non_null(level);
    for (int64_t i = 0; i < mm->rows; i++) {
        for (int64_t p = mm->ptr[i]; p < mm->ptr[i + 1]; p++) {
            int64_t before = mm->idx[p] < i ? level[mm->idx[p]] : 0;
            if (before + 1 > level[i]) level[i] = before + 1;
        }
        if (level[i] > count) count = level[i];
    }
    free(level);
    return count;
}

static bool same(const trs_mm *a, const trs_mm *b)
{
    return a->rows == b->rows && a->nnz == b->nnz &&
           !memcmp(a->ptr, b->ptr, ((size_t)a->rows + 1) * sizeof *a->ptr) &&
           !memcmp(a->idx, b->idx, (size_t)a->nnz * sizeof *a->idx) &&
           !memcmp(a->val, b->val, (size_t)a->nnz * sizeof(double));
}

/* The triangle as a full matrix by rows, [n*n]. */
static double *full(const trs_mm *mm)
{
    const double *val = mm->val;
    double *a = calloc((size_t)(mm->rows * mm->rows) + 1, sizeof *a);
    assert_non_null(a);
    for (int64_t i = 0; i < mm->rows; i++)
        for (int64_t p = mm->ptr[i]; p < mm->ptr[i + 1]; p++) a[i * mm->rows + mm->idx[p]] = val[p];
    return a;
}

/* ---- every kind -------------------------------------------------------------------------- */

/* Sizes for kinds whose size is an edge or an exponent, for full ones, and for numbers of rows. */
static int64_t small_size(const char *kind, int k)
{
    static const int64_t size[3][5] = {{0, 1, 2, 5, 7}, {0, 1, 2, 25, 100}, {0, 1, 2, 50, 1500}};
    static const char *const edge = " grid7 grid27 fem ilu lu3d rmat meshrcm meshcurve ",
                             *const square = " grid5 full lu2d ";
    char name[20];
    snprintf(name, sizeof name, " %s ", kind);
    if (strstr(edge, name)) return size[0][k];
    return size[strstr(square, name) ? 1 : 2][k];
}

static void test_kinds(void **state)
{
    (void)state;
    for (int k = 0; problem_kind_at(k); k++) {
        const char *kind = problem_kind_at(k)->name;
        for (int s = 0; s < 5; s++) {
            const int64_t size = small_size(kind, s);
            trs_mm mm;
            int rc = problem_make(kind, size, NULL, &mm);
            if (rc == TRS_ESUPPORT && is_factor(kind)) continue; /* no CHOLMOD */
            assert_int_equal(rc, TRS_OK);
            assert_triangle(&mm);
            if (!is_factor(kind)) assert_true(dominance(&mm) <= 0.9 * (1 + 1e-15));
            if (s == 4)
                print_message("%s %lld: n %lld, nnz %lld, levels %lld, dominance %.3f\n", kind,
                              (long long)size, (long long)mm.rows, (long long)mm.nnz,
                              (long long)levels(&mm), dominance(&mm));
            trs_mm_free(&mm);
        }
    }
    assert_null(problem_kind_at(-1));
}

static void test_seeds(void **state)
{
    (void)state;
    for (int k = 0; problem_kind_at(k); k++) {
        const char *kind = problem_kind_at(k)->name;
        if (is_factor(kind)) continue; /* no numbers are drawn */
        const int64_t size = small_size(kind, 3);
        const problem_options seven = {.seed = 7}, eight = {.seed = 8};
        trs_mm a = make(kind, size, &seven), b = make(kind, size, &seven),
               c = make(kind, size, &eight), d = make(kind, size, NULL);
        assert_true(same(&a, &b));
        assert_false(same(&a, &c));
        assert_false(same(&a, &d));
        trs_mm_free(&a);
        trs_mm_free(&b);
        trs_mm_free(&c);
        trs_mm_free(&d);
    }
}

/* ---- sizes and depths -------------------------------------------------------------------- */

/* -1: no formula. */
static void expect(const char *kind, int64_t size, const problem_options *opt, int64_t n,
                   int64_t nnz, int64_t depth)
{
    trs_mm mm = make(kind, size, opt);
    assert_triangle(&mm);
    assert_int_equal(mm.rows, n);
    if (nnz >= 0) assert_int_equal(mm.nnz, nnz);
    if (depth >= 0) assert_int_equal(levels(&mm), depth);
    trs_mm_free(&mm);
}

static void test_formulas(void **state)
{
    (void)state;
    for (int64_t n = 1; n < 12; n++) {
        const int64_t n2 = n * n, n3 = n * n * n, s = 3 * n - 2, pairs = (s * s * s - n3) / 2;
        expect("grid5", n, NULL, n2, 3 * n2 - 2 * n, 2 * n - 1);
        expect("grid7", n, NULL, n3, 4 * n3 - 3 * n2, 3 * n - 2);
        expect("ilu", n, NULL, n3, 4 * n3 - 3 * n2, 3 * n - 2);
        expect("grid27", n, NULL, n3, pairs + n3, 7 * n - 6);
        for (int64_t d = 1; d < 4; d++) {
            const problem_options dof = {.dof = d};
            expect("fem", n, &dof, d * n3, d * d * pairs + n3 * d * (d + 1) / 2, d * (7 * n - 6));
        }
        expect("fem", n, NULL, 3 * n3, 9 * pairs + 6 * n3, 3 * (7 * n - 6));
        expect("bidiag", n, NULL, n, 2 * n - 1, n);
        expect("full", n, NULL, n, n * (n + 1) / 2, n);
        expect("chain", n, NULL, n, -1, n);
        expect("rmat", n, NULL, (int64_t)1 << n, -1, -1);
        expect("rand", n, NULL, n, -1, -1);
        expect("circuit", n, NULL, n, -1, -1);
    }
}

static void test_options(void **state)
{
    (void)state;
    problem_options opt = {.degree = 4};
    trs_mm mm = make("rand", 1000, &opt);
    for (int64_t i = 0; i < mm.rows; i++) assert_true(mm.ptr[i + 1] - mm.ptr[i] <= 4);
    assert_true(mm.nnz > 3900 && mm.nnz <= 4000);
    trs_mm_free(&mm);

    opt = (problem_options){.degree = 1};
    expect("rand", 1000, &opt, 1000, 1000, 1);

    opt = (problem_options){.entries = 3, .reach = 20};
    mm = make("chain", 1000, &opt);
    for (int64_t i = 0; i < mm.rows; i++) {
        assert_true(mm.ptr[i + 1] - mm.ptr[i] <= 5);
        assert_true(mm.idx[mm.ptr[i]] >= i - 20);
    }
    assert_true(mm.nnz > 4500);
    trs_mm_free(&mm);

    opt = (problem_options){.entries = 5, .reach = 1}; /* the one before, six times */
    expect("chain", 1000, &opt, 1000, 1999, 1000);

    opt = (problem_options){.edges = 100};
    mm = make("rmat", 10, &opt);
    assert_true(mm.nnz > 1024 && mm.nnz <= 1024 + 100);
    trs_mm_free(&mm);
}

/* The rows of an R-MAT graph are of very unlike lengths, those of a uniform one are not. */
static void test_skew(void **state)
{
    (void)state;
    trs_mm mm = make("rmat", 12, NULL);
    int64_t longest = 0, alone = 0;
    for (int64_t i = 0; i < mm.rows; i++) {
        const int64_t length = mm.ptr[i + 1] - mm.ptr[i];
        if (length > longest) longest = length;
        alone += length == 1;
    }
    print_message("rmat 12: longest row %lld, %lld rows of one entry\n", (long long)longest,
                  (long long)alone);
    assert_true(longest > 200 && alone > mm.rows / 4);
    trs_mm_free(&mm);
}

/* ---- meshes ------------------------------------------------------------------------------ */

/* About 15/16 of the nodes, and of the edges, (15/16)^2. */
static void test_meshes(void **state)
{
    (void)state;
    const double nodes = 40 * 40 * 40, edges = 7.0 * 40 * 40 * 40 - 12.0 * 40 * 40 + 6 * 40 - 1;
    const char *const kinds[] = {"meshrcm", "meshcurve"};
    for (int k = 0; k < 2; k++) {
        trs_mm mm = make(kinds[k], 40, NULL);
        assert_triangle(&mm);
        assert_true(fabs((double)mm.rows / nodes / (15.0 / 16) - 1) < 0.01);
        assert_true(fabs((double)(mm.nnz - mm.rows) / edges / (15.0 * 15 / 256) - 1) < 0.02);
        trs_mm_free(&mm);
    }
}

enum { EDGE = 6, POINTS = EDGE * EDGE * EDGE };

typedef struct small_mesh {
    int32_t number[POINTS], node[POINTS];
    problem_mesh m;
} small_mesh;

/* Without the corner (0, 0, 0), and in two parts: the plane x = 3 is left out. */
static void mesh_in_parts(small_mesh *s)
{
    s->m = (problem_mesh){.size = EDGE, .number = s->number, .node = s->node};
    for (int k = 0; k < POINTS; k++) s->number[k] = k == 0 || k % EDGE == 3 ? -1 : 0;
}

/* number and node are inverse; what was left out has no number. */
static void assert_numbered(const small_mesh *s)
{
    assert_int_equal(s->m.rows, POINTS - 1 - EDGE * EDGE);
    for (int64_t k = 0; k < s->m.rows; k++) assert_int_equal(s->number[s->node[k]], k);
    for (int k = 0; k < POINTS; k++) assert_true(s->number[k] >= 0 || k == 0 || k % EDGE == 3);
}

static int degree(const problem_mesh *m, int64_t node)
{
    int count = 0;
    for (int k = 0; k < MESH_NEIGHBOURS; k++) count += problem_mesh_neighbour(m, node, k) >= 0;
    return count;
}

/* The neighbours of a node have it as theirs: in a whole cube, and without one node. */
static void test_mesh_neighbours(void **state)
{
    (void)state;
    small_mesh s = {.m = {.size = EDGE, .number = s.number}};
    for (int left_out = -1; left_out < POINTS; left_out += 101) {
        int64_t ends = 0;
        memset(s.number, 0, sizeof s.number);
        const int lost = left_out < 0 ? 0 : degree(&s.m, left_out);
        if (left_out >= 0) s.number[left_out] = -1;
        for (int64_t at = 0; at < POINTS; at++)
            for (int k = 0; k < MESH_NEIGHBOURS && at != left_out; k++) {
                const int64_t other = problem_mesh_neighbour(&s.m, at, k);
                int mutual = 0;
                for (int b = 0; b < MESH_NEIGHBOURS && other >= 0; b++)
                    mutual += problem_mesh_neighbour(&s.m, other, b) == at;
                assert_int_equal(mutual, other >= 0);
                ends += other >= 0;
            }
        assert_int_equal(ends, 2 * (7 * POINTS - 12 * EDGE * EDGE + 6 * EDGE - 1 - lost));
    }
}

/* The bits of the three coordinates in turn. */
static int code_of(int node)
{
    int code = 0;
    for (int bit = 0; bit < 3; bit++)
        code |= (node % EDGE >> bit & 1) << 3 * bit |
                (node / EDGE % EDGE >> bit & 1) << (3 * bit + 1) |
                (node / EDGE / EDGE >> bit & 1) << (3 * bit + 2);
    return code;
}

static void test_mesh_curve(void **state)
{
    (void)state;
    small_mesh s;
    mesh_in_parts(&s);
    problem_mesh_by_curve(&s.m);
    assert_numbered(&s);
    for (int64_t k = 1; k < s.m.rows; k++) assert_true(code_of(s.node[k - 1]) < code_of(s.node[k]));
}

/* Visit k is row rows - 1 - k.  Nodes are visited in the order of their first neighbours that were visited, and of nodes with
 * the same one those with few neighbours come first; who has none before begins a part. */
static void test_mesh_cuthill_mckee(void **state)
{
    (void)state;
    small_mesh s;
    int64_t parts = 0, parent_before = -1;
    int degree_before = 0;
    mesh_in_parts(&s);
    problem_mesh_by_cuthill_mckee(&s.m);
    assert_numbered(&s);
    for (int64_t visit = 0; visit < s.m.rows; visit++) {
        const int64_t node = s.node[s.m.rows - 1 - visit];
        int64_t parent = visit;
        for (int k = 0; k < MESH_NEIGHBOURS; k++) {
            const int64_t other = problem_mesh_neighbour(&s.m, node, k);
            const int64_t at = other < 0 ? visit : s.m.rows - 1 - s.number[other];
            if (at < parent) parent = at;
        }
        parts += parent == visit;
        assert_true(parent >= parent_before);
        if (parent == parent_before) assert_true(degree(&s.m, node) >= degree_before);
        parent_before = parent;
        degree_before = parent == visit ? 0 : degree(&s.m, node);
    }
    assert_int_equal(parts, 2);
}

/* ---- factors ----------------------------------------------------------------------------- */

/* (L D^-1 L')(i,j), D the diagonal of L; D = 1 when it is not wanted. */
static double product(const double *l, int64_t n, int64_t i, int64_t j, bool pivots)
{
    double sum = 0;
    for (int64_t k = 0; k <= j; k++)
        sum += l[i * n + k] * l[j * n + k] / (pivots ? l[k * n + k] : 1);
    return sum;
}

/* ILU(0): on the pattern, L D^-1 L' is A, whose diagonal is 6 and whose others are those of L. */
static void test_ilu(void **state)
{
    (void)state;
    trs_mm mm = make("ilu", 5, NULL);
    const double *val = mm.val;
    double *l = full(&mm), worst = 0;
    for (int64_t i = 0; i < mm.rows; i++)
        for (int64_t p = mm.ptr[i]; p < mm.ptr[i + 1]; p++) {
            const double a = mm.idx[p] == i ? 6 : val[p];
            const double d = fabs(product(l, mm.rows, i, mm.idx[p], true) - a);
            worst = larger(worst, d);
            if (mm.idx[p] != i) assert_true(a > -1 && a <= -0.5);
        }
    print_message("ilu 5: |L D^-1 L' - A| on the pattern %.2g\n", worst);
    assert_true(worst < 1e-14);
    assert_true(dominance(&mm) < 0.56);
    free(l);
    trs_mm_free(&mm);
}

#ifdef HAVE_CHOLMOD

/* a(i,j) of the Laplacian, from the places of the two nodes. */
static double laplacian(int dimensions, int64_t size, int64_t i, int64_t j)
{
    int64_t apart = 0;
    for (int d = 0; d < dimensions; d++, i /= size, j /= size) apart += llabs(i % size - j % size);
    if (apart == 0) return 2 * dimensions;
    return apart == 1 ? -1 : 0;
}

/* The permutation that the library takes for the same matrix. */
static trs_lu *factor(int dimensions, int64_t size, const int64_t **P)
{
    const int64_t n = (int64_t)llround(pow((double)size, dimensions));
    const trs_factor_options opt = {.method = "cholmod", .ordering = "amd"};
    double *a = calloc((size_t)(n * n), sizeof *a);
    int64_t *ptr = malloc((size_t)(n + 1) * sizeof *ptr);
    int32_t *idx = malloc((size_t)(n * n) * sizeof *idx);
    trs_mat A = {.n = n, .ptr = ptr, .idx = idx, .val = a, .ptr_bits = 64, .idx_bits = 32};
    trs_lu *lu;
    assert_true(a && ptr && idx);
    for (int64_t i = 0; i < n; i++) {
        ptr[i] = A.nnz;
        for (int64_t j = 0; j < n; j++)
            if ((a[A.nnz] = laplacian(dimensions, size, i, j)) != 0) idx[A.nnz++] = (int32_t)j;
    }
    ptr[n] = A.nnz;
    assert_int_equal(trs_factor(&lu, &A, &opt), TRS_OK);
    assert_int_equal(trs_lu_factors(lu, NULL, NULL, P, NULL, NULL), TRS_OK);
    free(a);
    free(ptr);
    free(idx);
    return lu;
}

static void check_factor(const char *kind, int dimensions, int64_t size)
{
    const int64_t *P;
    trs_lu *lu = factor(dimensions, size, &P);
    trs_mm mm = make(kind, size, NULL);
    double *l = full(&mm), worst = 0;
    bool identity = true;
    assert_triangle(&mm);
    for (int64_t i = 0; i < mm.rows; i++) {
        if (P[i] != i) identity = false;
        for (int64_t j = 0; j <= i; j++) {
            const double d =
                fabs(product(l, mm.rows, i, j, false) - laplacian(dimensions, size, P[i], P[j]));
            worst = larger(worst, d);
        }
    }
    print_message("%s %lld: |L L' - P A P'| %.2g\n", kind, (long long)size, worst);
    assert_true(worst < 1e-13);
    assert_false(identity); /* AMD has reordered */
    free(l);
    trs_mm_free(&mm);
    trs_lu_destroy(lu);
}

#endif

static void test_lu(void **state)
{
    (void)state;
#ifdef HAVE_CHOLMOD
    check_factor("lu2d", 2, 8);
    check_factor("lu2d", 2, 13);
    check_factor("lu3d", 3, 5);
#else
    trs_mm mm;
    assert_int_equal(problem_make("lu2d", 5, NULL, &mm), TRS_ESUPPORT);
    assert_non_null(strstr(said(), "CHOLMOD"));
    trs_mm_free(&mm);
#endif
}

/* ---- refusals ---------------------------------------------------------------------------- */

static void refused(const char *kind, int64_t size, const problem_options *opt, const char *why)
{
    trs_mm mm;
    int rc = problem_make(kind, size, opt, &mm);
    assert_int_equal(rc, TRS_EARG);
    if (!strstr(said(), why)) print_error("%s\n", said());
    assert_non_null(strstr(said(), why));
    assert_null(mm.ptr);
    trs_mm_free(&mm);
}

static void test_refusals(void **state)
{
    (void)state;
    const problem_options huge = {.degree = INT64_MAX,
                                  .dof = INT64_MAX,
                                  .edges = INT64_MAX / 4,
                                  .entries = INT64_MAX,
                                  .reach = INT64_MAX},
                          negative = {.degree = -1};
    refused("no-such", 3, NULL, "unknown kind \"no-such\"");
    for (int k = 0; problem_kind_at(k); k++) {
        const problem_kind *kind = problem_kind_at(k);
        refused(kind->name, -1, NULL, "negative");
        refused(kind->name, 1, &negative, "negative");
        refused(kind->name, INT64_MAX, NULL, "2^31 - 2 rows");
        refused(kind->name, INT32_MAX, NULL, "2^31 - 2 rows");
        if (*kind->options) refused(kind->name, 5, &huge, "too large");
    }
    refused("grid7", 1291, NULL, "2^31 - 2 rows");
    refused("rmat", 31, NULL, "2^31 - 2 rows");
}

/* ---- binary files ------------------------------------------------------------------------ */

static void put(const char *file, const char *bytes, size_t count)
{
    FILE *f = fopen(file, "wb");
    assert_non_null(f);
    assert_int_equal(fwrite(bytes, 1, count, f), count);
    assert_int_equal(fclose(f), 0);
}

static void not_read(const char *file)
{
    trs_mm mm;
    assert_int_equal(binary_read(file, 0, &mm), TRS_EFORMAT);
    assert_true(*said());
    trs_mm_free(&mm);
}

/* A file with one 8-byte word changed at a time, cut off anywhere, or longer than it should be. */
static void spoil(const char *file)
{
    static char good[8192], bad[8192];
    FILE *f = fopen(file, "rb");
    assert_non_null(f);
    const size_t size = fread(good, 1, sizeof good, f);
    fclose(f);
    assert_true(size > 200 && size < sizeof good);
    for (size_t count = 0; count < size; count += 7) {
        put(file, good, count);
        not_read(file);
    }
    put(file, good, size + 1);
    not_read(file);
    const size_t n = 12, header = 24, columns = header + 8 * (n + 1);
    for (size_t at = 0; at < columns; at += 8) { /* magic, n, nnz, pointers */
        memcpy(bad, good, size);
        memset(bad + at, 0xff, 8);
        put(file, bad, size);
        not_read(file);
    }
    memcpy(bad, good, size);
    memset(bad + columns, 0x7f, 4); /* a column out of range */
    put(file, bad, size);
    not_read(file);
}

static void test_binary(void **state)
{
    (void)state;
    char file[] = "t_problems.XXXXXX";
    trs_mm a = make("chain", 12, NULL), b;
    int fd = mkstemp(file);
    assert_true(fd >= 0);
    close(fd);
    assert_false(binary_is(file));
    assert_false(binary_is("/dev/null"));
    assert_false(binary_is("."));
    assert_int_equal(binary_write(file, &a), TRS_OK);
    assert_true(binary_is(file));
    assert_int_equal(binary_read(file, 0, &b), TRS_OK);
    assert_true(same(&a, &b));
    trs_mm_free(&b);
    assert_int_equal(binary_read(file, 1, &b), TRS_OK);
    assert_int_equal(b.base, 1);
    assert_int_equal(b.ptr[b.rows], b.nnz + 1);
    assert_int_equal(b.idx[b.nnz - 1], b.rows);
    trs_mm_free(&b);
    spoil(file);
    unlink(file);
    assert_int_equal(binary_read(file, 0, &b), TRS_EFILE);
    trs_mm_free(&b);
    assert_int_equal(binary_write("no/such/folder.trs", &a), TRS_EFILE);
    assert_non_null(strstr(said(), "folder.trs"));
    trs_mm_free(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_kinds),      cmocka_unit_test(test_seeds),
        cmocka_unit_test(test_formulas),   cmocka_unit_test(test_options),
        cmocka_unit_test(test_skew),       cmocka_unit_test(test_ilu),
        cmocka_unit_test(test_meshes),     cmocka_unit_test(test_mesh_neighbours),
        cmocka_unit_test(test_mesh_curve), cmocka_unit_test(test_mesh_cuthill_mckee),
        cmocka_unit_test(test_lu),         cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_binary),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
