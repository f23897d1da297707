/* library.h: libraries that are opened at run time by the soname that configure found.
 *
 * A program links this library, libc, libm and OpenMP only.  libarchive, LAPACK and NVIDIA's libraries, with all
 * that these link in turn, are loaded when they are first needed; if one is missing, the call that needs it
 * reports this. */
#ifndef TRS_LIBRARY_H
#define TRS_LIBRARY_H

#include <stddef.h>

/* Open a library; NULL with the reason in why [size].  folder says where to look; NULL means where the loader looks.
 * A library stays in memory once it was found: then opening it again is cheap, and the threads of a BLAS never lose
 * their code. */
void *trs_library_open(const char *folder, const char *soname, char *why, size_t size);
void trs_library_close(void *library); /* NULL allowed */

/* *function = the address of the function `name`, of whatever type.
 * Returns TRS_OK, or TRS_ELIBRARY with the reason in why [size]. */
int trs_library_find(void *library, const char *name, void **function, char *why, size_t size);

/* What F may be in a list F (name) F (name) ... of the functions that are called: the declaration of a structure's
 * field for each, and the search that sets it in the structure `lib` as long as rc is TRS_OK. */
#define TRS_LIBRARY_MEMBER(name) __typeof__(&name) name;
#define TRS_LIBRARY_FIND(name)                                                                     \
    if (!rc) rc = trs_library_find(lib->library, #name, (void **)&lib->name, why, size);

#endif
