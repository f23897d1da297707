/* case.c: what all tests do before they begin.  TRS_CASE=PATTERN runs only the cases whose names match the pattern, which has
 * * and ?.  A test that has not ended after TRS_PATIENCE seconds hangs, and a signal ends it. */
#include "config.h"

#include "report.h"

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <stdlib.h>
#include <unistd.h>

enum { PATIENCE = 1800 }; /* s: many times what the longest test takes on a busy machine */

__attribute__((constructor)) void before_all_tests(void);

void choose_solvers(void)
{
    const char *pattern = getenv("TRS_TESTS");
    if (pattern && !getenv("TRS_CASE")) cmocka_set_test_filter(pattern);
}

int case_step(void)
{
    const char *few = getenv("TRS_FEW");
    return few && atoi(few) > 1 ? atoi(few) : 1;
}

void before_all_tests(void)
{
    const char *pattern = getenv("TRS_CASE"), *patience = getenv("TRS_PATIENCE");
    if (pattern) cmocka_set_test_filter(pattern);
    alarm(patience && atoi(patience) > 0 ? (unsigned)atoi(patience) : PATIENCE);
}
