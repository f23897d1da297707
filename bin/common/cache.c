/* cache.c: the user's cache, and the folders that lead there. */
#include "config.h"

#include "cache.h"

#include "base/user_cache.h"
#include "message.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

/* As mkdir -p does, for what stands before the last slash; path is as it was afterwards. */
static int make_folders(char *path)
{
    for (char *slash = strchr(path + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        const int failed = mkdir(path, 0700) && errno != EEXIST ? errno : 0;
        if (failed) complain("%s: %s", path, strerror(failed));
        *slash = '/';
        if (failed) return EXIT_USAGE;
    }
    return EXIT_GOOD;
}

int cache_file(const char *name, char *path, size_t size)
{
    if (trs_user_cache(name, path, size)) return make_folders(path);
    complain("there is no cache: neither XDG_CACHE_HOME nor HOME names a folder");
    return EXIT_USAGE;
}
