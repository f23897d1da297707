/* library.h: libraries that are opened at run time, by the soname that configure found.
 *
 * What a program links is this library, libc, libm and OpenMP; libarchive, LAPACK and NVIDIA's libraries, with
 * all that these link in turn, are loaded when they are first needed, and their absence is said then. */
#ifndef TRS_LIBRARY_H
#define TRS_LIBRARY_H

#include <stddef.h>

/* Open a library, or NULL with the reason in why [size].  folder: where to look; NULL: where the loader looks.
 * A library stays in memory once it was found: opening it again is cheap, and the threads of a BLAS never lose
 * their code. */
void *trs_library_open(const char *folder, const char *soname, char *why, size_t size);
void trs_library_close(void *library); /* NULL allowed */

/* *function = the address of a name, a pointer to a function of any type.
 * Returns TRS_OK, or TRS_ELIBRARY with the reason in why [size]. */
int trs_library_find(void *library, const char *name, void **function, char *why, size_t size);

/* For lists F (name) ... of the functions that are called: the member of a structure `lib` that holds one, and
 * finding it while rc is TRS_OK. */
#define TRS_LIBRARY_MEMBER(name) __typeof__(&name) name;
#define TRS_LIBRARY_FIND(name)                                                                     \
    if (!rc) rc = trs_library_find(lib->library, #name, (void **)&lib->name, why, size);

#endif
