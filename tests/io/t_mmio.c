/* t_mmio.c: a program written for NIST's mmio works with trisolve-mmio.h, even where mmio itself failed. */
#include "config.h"

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "trisolve-mmio.h"

#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

static char path[] = "/tmp/t_mmio.XXXXXX";

static int make_file(void **state)
{
    (void)state;
    int fd = mkstemp(path);
    return fd < 0 || close(fd);
}

static int remove_file(void **state)
{
    (void)state;
    return unlink(path);
}

static FILE *file_with(const char *text)
{
    FILE *f = fopen(path, "w+");
    assert_non_null(f);
    assert_int_equal(fwrite(text, 1, strlen(text), f), strlen(text));
    rewind(f);
    return f;
}

#define REAL "%%MatrixMarket matrix coordinate real general\n"

/* Do as programs written for mmio do: read banner and sizes, then the entries by fscanf. */
static void test_reading_by_hand(void **state)
{
    (void)state;
    MM_typecode code;
    int M, N, nz, I[3], J[3];
    double val[3];
    FILE *f = file_with(REAL "% a comment\n\n  \n3 2 3\n1 1 1.5\n3 2 -2\n2 1 1e10\n");
    assert_int_equal(mm_read_banner(f, &code), 0);
    assert_true(mm_is_matrix(code) && mm_is_sparse(code) && mm_is_real(code) &&
                mm_is_general(code));
    assert_int_equal(mm_read_mtx_crd_size(f, &M, &N, &nz), 0);
    assert_true(M == 3 && N == 2 && nz == 3);
    for (int k = 0; k < nz; k++)
        assert_int_equal(fscanf(f, "%d %d %lg\n", &I[k], &J[k], &val[k]), 3);
    assert_true(I[1] == 3 && J[1] == 2 && val[1] == -2 && val[2] == 1e10);
    fclose(f);
}

static void test_single_entries(void **state)
{
    (void)state;
    MM_typecode code;
    int M, N, nz, row = 0, col = 0;
    double real = 0, img = 0;
    FILE *f = file_with(
        "%%MatrixMarket matrix coordinate complex general\n3 2 2\n3 2 -2 0.25\n1 1 7 8\n");
    assert_int_equal(mm_read_banner(f, &code), 0);
    assert_int_equal(mm_read_mtx_crd_size(f, &M, &N, &nz), 0);
    assert_int_equal(mm_read_mtx_crd_entry(f, &row, &col, &real, &img, code), 0);
    assert_true(row == 3 && col == 2 && real == -2 && img == 0.25);
    assert_int_equal(mm_read_mtx_crd_entry(f, &row, &col, &real, &img, code), 0);
    assert_true(row == 1 && col == 1 && real == 7 && img == 8);
    assert_int_not_equal(mm_read_mtx_crd_entry(f, &row, &col, &real, &img, code), 0);
    fclose(f);
}

static void test_whole_file(void **state)
{
    (void)state;
    MM_typecode code;
    int M, N, nz, *I, *J;
    double *val;
    fclose(file_with(
        "%%MatrixMarket matrix coordinate complex symmetric\n2 2 2\n1 1 1 2\n2 1 3D0 -4\n"));
    assert_int_equal(mm_read_mtx_crd(path, &M, &N, &nz, &I, &J, &val, &code), 0);
    assert_true(nz == 2 && I[1] == 2 && J[1] == 1 && val[2] == 3 && val[3] == -4);
    char *text = mm_typecode_to_str(code);
    assert_string_equal(text, "matrix coordinate complex symmetric");
    free(text);
    assert_int_equal(mm_write_mtx_crd(path, M, N, nz, I, J, val, code), 0);
    free(I);
    free(J);
    free(val);
    assert_int_equal(mm_read_mtx_crd(path, &M, &N, &nz, &I, &J, &val, &code), 0);
    assert_true(nz == 2 && val[3] == -4);
    free(I);
    free(J);
    free(val);
    fclose(file_with("%%MatrixMarket matrix coordinate pattern general\n2 2 1\n2 1\n"));
    assert_int_equal(mm_read_mtx_crd(path, &M, &N, &nz, &I, &J, &val, &code), 0);
    assert_null(val);
    assert_true(I[0] == 2 && J[0] == 1);
    free(I);
    free(J);
    fclose(file_with(REAL "2 2 1\n2 1 5\n"));
    assert_int_equal(mm_read_unsymmetric_sparse(path, &M, &N, &nz, &val, &I, &J), 0);
    assert_true(I[0] == 1 && J[0] == 0 && val[0] == 5);
    free(I);
    free(J);
    free(val);
    static const char *const others[] = {"complex general\n2 2 1\n2 1 5 6\n",
                                         "real symmetric\n2 2 1\n2 1 5\n"};
    for (int k = 0; k < 2; k++) {
        char file[100];
        snprintf(file, sizeof file, "%%%%MatrixMarket matrix coordinate %s", others[k]);
        fclose(file_with(file));
        assert_int_equal(mm_read_unsymmetric_sparse(path, &M, &N, &nz, &val, &I, &J), -1);
        assert_true(!I && !J && !val);
    }
}

/* A file that cannot be written as a whole leaves the old one; a link is followed, and standard output that is closed does
 * not become the file. */
static void test_old_file(void **state)
{
    (void)state;
    char link_name[100], word[40] = "";
    MM_typecode code = {'M', 'C', 'R', 'G'};
    int one[] = {1};
    double val[] = {7};
    snprintf(link_name, sizeof link_name, "%s.link", path);
    remove(link_name);
    assert_int_equal(symlink(strrchr(path, '/') ? strrchr(path, '/') + 1 : path, link_name), 0);
    fclose(file_with("old\n"));
    struct rlimit limit, small;
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &limit), 0);
    small = limit;
    small.rlim_cur = 20;
    signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
    const int failed = mm_write_mtx_crd(path, 1, 1, 1, one, one, val, code);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
    assert_int_equal(failed, MM_COULD_NOT_WRITE_FILE);
    FILE *f = fopen(path, "r");
    assert_true(f && fscanf(f, "%39s", word) == 1 && !strcmp(word, "old"));
    fclose(f);
    const int out = dup(STDOUT_FILENO);
    fflush(stdout);
    close(STDOUT_FILENO);
    const int rc = mm_write_mtx_crd(link_name, 1, 1, 1, one, one, val, code);
    const bool is_free = fcntl(STDOUT_FILENO, F_GETFD) < 0;
    dup2(out, STDOUT_FILENO);
    close(out);
    assert_int_equal(rc, 0);
    assert_true(is_free);
    struct stat st;
    assert_true(!lstat(link_name, &st) && S_ISLNK(st.st_mode));
    f = fopen(path, "r");
    assert_true(f && fscanf(f, "%39s", word) == 1 && !strcmp(word, "%%MatrixMarket"));
    fclose(f);
    remove(link_name);
}

static void test_arrays(void **state)
{
    (void)state;
    MM_typecode code;
    int M = 0, N = 0;
    FILE *f = tmpfile();
    assert_non_null(f);
    mm_initialize_typecode(&code);
    mm_set_matrix(&code);
    mm_set_array(&code);
    mm_set_integer(&code);
    assert_int_equal(mm_write_banner(f, code), 0);
    assert_int_equal(mm_write_mtx_array_size(f, 4, 1), 0);
    rewind(f);
    assert_int_equal(mm_read_banner(f, &code), 0);
    assert_true(mm_is_dense(code) && mm_is_integer(code) && mm_is_valid(code));
    assert_int_equal(mm_read_mtx_array_size(f, &M, &N), 0);
    assert_true(M == 4 && N == 1);
    fclose(f);
}

static int whole(const char *text)
{
    MM_typecode code;
    int M, N, nz, *I, *J;
    double *val;
    fclose(file_with(text));
    int rc = mm_read_mtx_crd(path, &M, &N, &nz, &I, &J, &val, &code);
    if (rc) assert_true(!I && !J && !val);
    free(I);
    free(J);
    free(val);
    return rc;
}

/* More entries than there is room for at first, and than there is after the room has grown. */
static void test_many_entries(void **state)
{
    (void)state;
    enum { MANY = 9000 };
    MM_typecode code;
    int M, N, nz, *I, *J;
    double *val;
    for (int parts = 0; parts < 3; parts++) {
        static const char *const field[] = {"pattern", "real", "complex"};
        FILE *f = fopen(path, "w");
        assert_non_null(f);
        fprintf(f, "%%%%MatrixMarket matrix coordinate %s general\n%d 7 %d\n", field[parts], MANY,
                MANY);
        for (int k = 0; k < MANY; k++) {
            fprintf(f, "%d %d", k + 1, k % 7 + 1);
            for (int part = 0; part < parts; part++) fprintf(f, " %d", 3 * k + part);
            fputs("\n", f);
        }
        assert_int_equal(fclose(f), 0);
        assert_int_equal(mm_read_mtx_crd(path, &M, &N, &nz, &I, &J, &val, &code), 0);
        assert_true(M == MANY && N == 7 && nz == MANY);
        for (int k = 0; k < MANY; k++) {
            assert_true(I[k] == k + 1 && J[k] == k % 7 + 1);
            for (int part = 0; part < parts; part++)
                assert_true(val[parts * k + part] == 3 * k + part);
        }
        free(I);
        free(J);
        free(val);
    }
}

/* Files for which mmio itself loops, overflows, or makes up what is not there. */
static void test_what_mmio_gets_wrong(void **state)
{
    (void)state;
    char text[3000] = REAL "% ";
    memset(text + strlen(REAL) + 2, 'x', 2000);
    strcpy(text + strlen(REAL) + 2002, "\n1 1 1\n1 1 1\n");
    assert_int_equal(whole(text), 0); /* the file has a comment of 2000 characters */
    assert_int_equal(whole(REAL "\n\n1 1 1\n1 1 1\n"), 0);
    assert_int_equal(whole(REAL "2 2 1\n0 1 1\n"), MM_PREMATURE_EOF);
    assert_int_equal(whole(REAL "2 2 1\n3 1 1\n"), MM_PREMATURE_EOF);
    assert_int_equal(whole(REAL "2 2 1\n-1 1 1\n"), MM_PREMATURE_EOF);
    assert_int_equal(whole(REAL "2 2 1\n4294967297 1 1\n"), MM_PREMATURE_EOF);
    assert_int_equal(whole(REAL "2 2 2\n1 1\n2 2 1\n"), MM_PREMATURE_EOF);
    assert_int_equal(whole(REAL "2 2 2\n1 1 1\n"), MM_PREMATURE_EOF);
    assert_int_equal(whole(REAL "2 2 1\n1 1 1\n2 2 2\n"), MM_PREMATURE_EOF);
    assert_int_equal(whole(REAL "2 2 1\n1 1 1,5\n"), MM_PREMATURE_EOF);
    assert_int_equal(whole(REAL "4294967298 2 1\n1 1 1\n"), MM_UNSUPPORTED_TYPE);
    assert_int_equal(whole(REAL "2 2 2147483647\n1 1 1\n"), MM_PREMATURE_EOF);
    assert_int_equal(whole(REAL "x\n"), MM_PREMATURE_EOF);
    assert_int_equal(whole(REAL), MM_PREMATURE_EOF);
    assert_int_equal(whole(""), MM_PREMATURE_EOF);
    assert_int_equal(whole("a b c d e\n"), MM_NO_HEADER);
    assert_int_equal(whole("%%MatrixMarket matrix coordinate real\n"), MM_PREMATURE_EOF);
    assert_int_equal(whole("%%MatrixMarket matrix coordinate float general\n"),
                     MM_UNSUPPORTED_TYPE);
    assert_int_equal(whole("%%MatrixMarket matrix array real general\n1 1\n1\n"),
                     MM_UNSUPPORTED_TYPE);
    assert_int_equal(whole("%%MatrixMarket matrix coordinate integer general\n1 1 1\n1 1 1.5\n"),
                     MM_PREMATURE_EOF);
    int k;
    int *p;
    double *v;
    MM_typecode code;
    assert_int_equal(mm_read_mtx_crd("/none/x.mtx", &k, &k, &k, &p, &p, &v, &code),
                     MM_COULD_NOT_READ_FILE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_reading_by_hand),
        cmocka_unit_test(test_single_entries),
        cmocka_unit_test(test_whole_file),
        cmocka_unit_test(test_old_file),
        cmocka_unit_test(test_arrays),
        cmocka_unit_test(test_many_entries),
        cmocka_unit_test(test_what_mmio_gets_wrong),
    };
    return cmocka_run_group_tests_name("mmio", tests, make_file, remove_file);
}
