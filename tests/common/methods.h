/* methods.h: the libraries that factor on the host in this build, in the words of trs_factor_options.method. */
#ifndef TRS_TESTS_METHODS_H
#define TRS_TESTS_METHODS_H

#include <stdbool.h>
#include <string.h>

/* The one for Hermitian matrices with positive eigenvalues comes last. */
static const char *const methods[] = {
#ifdef HAVE_UMFPACK
    "umfpack",
#endif
#ifdef HAVE_KLU
    "klu",
#endif
#ifdef HAVE_CHOLMOD
    "cholmod",
#endif
};

enum { METHODS = sizeof methods / sizeof methods[0] };

static inline bool takes_any_matrix(const char *method)
{
    return strcmp(method, "cholmod") != 0;
}

#endif
