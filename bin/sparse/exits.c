/* exits.c: the one table from the status codes of the library to the exit codes of the program. */
#include "config.h"

#include "exits.h"
#include "trisolve-sparse.h"

#include <stddef.h>

static const struct {
    int status, code;
} table[] = {
    {TRS_OK, EXIT_GOOD},
    {TRS_EARG, EXIT_USAGE},
    {TRS_ESUPPORT, EXIT_USAGE},
    {TRS_EMATRIX, EXIT_USAGE},
    {TRS_EFILE, EXIT_USAGE},
    {TRS_EFORMAT, EXIT_USAGE},
    {TRS_EPIVOT, EXIT_PIVOT},
    {TRS_EMEM, EXIT_MEMORY},
    {TRS_EDEVICE, EXIT_DEVICE},
    {TRS_ESTATE, EXIT_FAULT},
    {TRS_ELIBRARY, EXIT_FAULT},
    {TRS_EGROWTH, EXIT_INACCURATE},
    {TRS_ECANCELED, EXIT_INTERRUPTED},
};

static const char *const about[] = {
    [EXIT_GOOD] = "the system was solved",
    [EXIT_USAGE] = "wrong use, or a file or matrix cannot be read, understood or written",
    [EXIT_PIVOT] = "a pivot is zero, missing or not finite",
    [EXIT_INACCURATE] =
        "x overflows, its backward error is too large, or a method did not converge",
    [EXIT_MEMORY] = "out of memory, or more memory needed than the limit",
    [EXIT_DEVICE] = "no usable GPU, or CUDA reported an error",
    [EXIT_FAULT] = "internal error",
    [EXIT_SINGULAR] = "the system was solved, but the matrix is singular to working precision",
    [EXIT_INTERRUPTED] = "interrupted by Ctrl-C",
};

int exit_of(int status)
{
    for (size_t k = 0; k < sizeof table / sizeof table[0]; k++)
        if (table[k].status == status) return table[k].code;
    return -1;
}

int exit_code(int status)
{
    const int code = exit_of(status);
    return code < 0 ? EXIT_FAULT : code;
}

const char *exit_about(int k)
{
    return k >= 0 && k < (int)(sizeof about / sizeof about[0]) ? about[k] : NULL;
}
