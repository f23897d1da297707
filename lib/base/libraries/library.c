/* library.c: opens libraries at run time; see library.h. */
#include "config.h"

#include "library.h"
#include "trisolve-sparse.h"

#include <dlfcn.h>
#include <stdio.h>

/* LOCAL, because what is loaded may be another release of what the program links, whose names must not be replaced.
 * NOW, because a function that the library itself lacks is then reported here; later it would end the process. */
enum { OPEN = RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE };

void *trs_library_open(const char *folder, const char *soname, char *why, size_t size)
{
    char path[4096];
    snprintf(path, sizeof path, "%s%s%s", folder ? folder : "", folder ? "/" : "", soname);
    void *library = dlopen(path, OPEN);
    if (!library) snprintf(why, size, "%s", dlerror());
    return library;
}

void trs_library_close(void *library)
{
    if (library) dlclose(library);
}

int trs_library_find(void *library, const char *name, void **function, char *why, size_t size)
{
    *function = dlsym(library, name);
    if (!*function) snprintf(why, size, "%s not found: %s", name, dlerror());
    return *function ? TRS_OK : TRS_ELIBRARY;
}
