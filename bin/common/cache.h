/* cache.h: files that a program keeps in the user's cache, when it is asked to. */
#ifndef TRS_BIN_CACHE_H
#define TRS_BIN_CACHE_H

#include <stddef.h>

/* path [size]: the file of this name, to be read or written; the folders above it are made.  Returns an exit code, with a
 * sentence. */
int cache_file(const char *name, char *path, size_t size);

#endif
