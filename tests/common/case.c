/* case.c: TRS_CASE=PATTERN runs only the cases of a test whose names match the pattern, which has * and ?. */
#include "config.h"

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <stdlib.h>

__attribute__((constructor)) static void choose_cases(void)
{
    const char *pattern = getenv("TRS_CASE");
    if (pattern) cmocka_set_test_filter(pattern);
}
