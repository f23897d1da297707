/* vendor.c: finds cuSPARSE, cuBLAS and cuSOLVER where the loader finds them, then in
 * $TRS_CUDA_LIBDIR, then where configure saw them. */
#include "config.h"

#include "vendor.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

/* A library stays once it was found: to load it takes 15 ms, and every choice of a solver asks whether it is
 * there. */
enum { OPEN = RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE };

static void *open_in(const char *folder, const char *soname)
{
    char path[4096];
    if (!folder) return NULL;
    snprintf(path, sizeof path, "%s/%s", folder, soname);
    return dlopen(path, OPEN);
}

static void *open_library(const char *soname, char *why, size_t size)
{
    void *h = dlopen(soname, OPEN);
    if (!h) h = open_in(getenv("TRS_CUDA_LIBDIR"), soname);
    if (!h) h = open_in(CUDA_LIBDIR, soname);
    if (!h) snprintf(why, size, "%s", dlerror());
    return h;
}

void trs_vendor_close(void *library)
{
    if (library) dlclose(library);
}

/* A symbol as whatever pointer the member is (POSIX allows the detour through void **). */
static int resolve(void *library, const char *name, void **member, char *why, size_t size)
{
    *member = dlsym(library, name);
    if (!*member) snprintf(why, size, "%s not found: %s", name, dlerror());
    return *member ? TRS_OK : TRS_ELIBRARY;
}

#define TRS_RESOLVE(name)                                                                          \
    if (!rc) rc = resolve(lib->library, #name, (void **)&lib->name, why, size);

int trs_cusparse_open(trs_cusparse *lib, char *why, size_t size)
{
    lib->library = open_library(CUSPARSE_SONAME, why, size);
    int rc = lib->library ? TRS_OK : TRS_ELIBRARY;
    TRS_CUSPARSE_FUNCTIONS(TRS_RESOLVE)
    return rc;
}

int trs_cublas_open(trs_cublas *lib, char *why, size_t size)
{
    lib->library = open_library(CUBLAS_SONAME, why, size);
    int rc = lib->library ? TRS_OK : TRS_ELIBRARY;
    TRS_CUBLAS_FUNCTIONS(TRS_RESOLVE)
    return rc;
}

int trs_cusolver_open(trs_cusolver *lib, char *why, size_t size)
{
    lib->library = open_library(CUSOLVER_SONAME, why, size);
    int rc = lib->library ? TRS_OK : TRS_ELIBRARY;
    TRS_CUSOLVER_FUNCTIONS(TRS_RESOLVE)
    return rc;
}
