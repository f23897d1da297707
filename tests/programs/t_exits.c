/* t_exits.c: every code of the library has an exit code, and every exit code its line in the man page. */
#include "config.h"

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "bin/sparse/exits.h"
#include "trisolve-sparse.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void every_status(void **state)
{
    (void)state;
    int known = 0;
    for (int status = -100; status <= 0; status++) {
        if (!strcmp(trs_strerror(status), "unknown status")) continue;
        known++;
        assert_non_null(exit_about(exit_of(status)));
        assert_true((exit_of(status) == EXIT_GOOD) == (status == TRS_OK));
    }
    assert_true(known >= 11);
    assert_int_equal(exit_of(1), -1);
    assert_int_equal(exit_of(TRS_EPIVOT), EXIT_PIVOT);
    assert_int_equal(exit_of(TRS_EMEM), EXIT_MEMORY);
    assert_int_equal(exit_of(TRS_EDEVICE), EXIT_DEVICE);
}

static void every_exit_is_documented(void **state)
{
    (void)state;
    char path[1000], line[300], want[20];
    const char *dir = getenv("TRS_SRCDIR");
    snprintf(path, sizeof path, "%s/doc/trisolve-sparse.1", dir ? dir : ".");
    FILE *f = fopen(path, "r");
    assert_non_null(f);
    int k = -1; /* -1: before the section */
    while (fgets(line, sizeof line, f)) {
        if (!strcmp(line, ".Sh EXIT STATUS\n")) k = 0;
        snprintf(want, sizeof want, ".It %d\n", k);
        if (k >= 0 && !strcmp(line, want)) k++;
    }
    fclose(f);
    assert_true(k > 3);
    assert_non_null(exit_about(k - 1));
    assert_null(exit_about(k));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_status),
        cmocka_unit_test(every_exit_is_documented),
    };
    return cmocka_run_group_tests_name("exits", tests, NULL, NULL);
}
