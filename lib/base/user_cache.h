/* user_cache.h: the location of the files that a program stores for its user: costs of the machine, wisdom.  The
 * library reads them and never writes; programs write them on request.
 * Source: freedesktop.org, XDG Base Directory Specification 0.8.  It ignores a relative path in
 * XDG_CACHE_HOME. */
#ifndef TRS_USER_CACHE_H
#define TRS_USER_CACHE_H

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

/* path [size]: $XDG_CACHE_HOME/trisolve-sparse/NAME, or else $HOME/.cache/trisolve-sparse/NAME.  false: neither variable
 * has an absolute path, or it is longer than path. */
static inline bool trs_user_cache(const char *name, char *path, size_t size)
{
    const char *cache = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
    const bool is_named = cache && *cache == '/';
    const char *base = is_named ? cache : home;
    if (!base || *base != '/') return false;
    const int length =
        snprintf(path, size, "%s%s/trisolve-sparse/%s", base, is_named ? "" : "/.cache", name);
    return length > 0 && (size_t)length < size;
}

#endif
