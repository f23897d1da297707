/* list.c: the names to run over: a folder becomes the matrices in it and below it, in the order of
 * their names, without the right-hand sides that lie beside them.  Links to folders are not
 * followed, for they may lead back. */
#include "config.h"

#include "list.h"

#include "bin/common/files.h"
#include "bin/common/message.h"
#include "bin/common/problems/problems.h"

#include <fts.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static int list_add(name_list *l, const char *name)
{
    char **grown = realloc(l->name, (size_t)(l->count + 1) * sizeof *grown);
    if (grown) l->name = grown;
    char *text = grown ? strdup(name) : NULL;
    if (!text) return out_of_memory();
    l->name[l->count++] = text;
    return EXIT_GOOD;
}

/* KIND:SIZE,SIZE,...: a name for each size. */
static int list_add_sizes(name_list *l, const char *name)
{
    const size_t kind = strcspn(name, ":") + 1;
    int code = EXIT_GOOD;
    for (const char *size = name + kind; !code && *size;) {
        const size_t length = strcspn(size, ",");
        char *one = malloc(kind + length + 1);
        if (!one) return out_of_memory();
        memcpy(one, name, kind);
        memcpy(one + kind, size, length);
        one[kind + length] = '\0';
        code = list_add(l, one);
        free(one);
        size += length + (size[length] == ',');
    }
    return code;
}

static bool has_sizes(const char *name)
{
    return problem_is_name(name) && strchr(strchr(name, ':'), ',');
}

static bool ends_in(const char *name, const char *end)
{
    const size_t length = strlen(name), l = strlen(end);
    return length > l && !strcmp(name + length - l, end);
}

/* Is it x.mtx, x.mtx.gz and so on, x.tar.gz of the SuiteSparse collection, or x.trs? */
static bool is_matrix(const char *name)
{
    const char *mtx = strstr(name, ".mtx");
    if (mtx && (mtx[4] == '\0' || mtx[4] == '.')) return true;
    return ends_in(name, ".tar.gz") || ends_in(name, ".trs");
}

static int by_name(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Takes the matrices in a folder and below it; what is hidden is left out, and a folder that cannot
 * be opened stops nothing else. */
static int walk(name_list *l, const char *dir)
{
    char *const roots[] = {(char *)dir, NULL};
    FTS *tree = fts_open(roots, FTS_PHYSICAL | FTS_COMFOLLOW | FTS_NOCHDIR, NULL);
    int code = tree ? EXIT_GOOD : out_of_memory();
    for (FTSENT *e; !code && (e = fts_read(tree));) {
        if (e->fts_level > 0 && e->fts_name[0] == '.') fts_set(tree, e, FTS_SKIP);
        else if (e->fts_info == FTS_DNR) complain("%s: %s", e->fts_path, strerror(e->fts_errno));
        else if (e->fts_info != FTS_D && e->fts_info != FTS_DP && is_matrix(e->fts_name))
            code = list_add(l, e->fts_path);
    }
    if (tree) fts_close(tree);
    return code;
}

/* ---- right-hand sides ------------------------------------------------------------------------ */

/* The end of NAME in NAME_b.mtx, NAME_rhs1.mtx.gz and so on, which are the right-hand sides of
 * NAME.mtx in the SuiteSparse collection; NULL: by its name it is none. */
static const char *end_of_matrix(const char *name)
{
    const char *mtx = strstr(base_name(name), ".mtx"), *end = mtx;
    if (!mtx) return NULL;
    while (end > name && end[-1] >= '0' && end[-1] <= '9') end--;
    if (end - name > 2 && !strncmp(end - 2, "_b", 2)) return end - 2;
    if (end - name > 4 && !strncmp(end - 4, "_rhs", 4)) return end - 4;
    return NULL;
}

/* Is its matrix one of the names from there on? */
static bool is_right_hand_side(const name_list *l, int from, const char *name)
{
    const char *end = end_of_matrix(name);
    const size_t length = end ? (size_t)(end - name) : 0;
    for (int k = from; k < l->count && end; k++)
        if (!strncmp(l->name[k], name, length) && !strncmp(l->name[k] + length, ".mtx", 4))
            return true;
    return false;
}

/* Drops those that lie beside their matrix.  In the order of names the matrix stands before them,
 * so that from the end on each is judged while its matrix is still there. */
static void drop_right_hand_sides(name_list *l, int from)
{
    for (int k = l->count - 1; k >= from; k--) {
        if (!is_right_hand_side(l, from, l->name[k])) continue;
        free(l->name[k]);
        memmove(l->name + k, l->name + k + 1, (size_t)(--l->count - k) * sizeof *l->name);
    }
}

static int list_directory(name_list *l, const char *dir)
{
    const int before = l->count;
    int code = walk(l, dir);
    if (!code && l->count == before)
        return complain("%s: no matrices in this directory", dir), EXIT_USAGE;
    if (code) return code;
    qsort(l->name + before, (size_t)(l->count - before), sizeof *l->name, by_name);
    drop_right_hand_sides(l, before);
    return EXIT_GOOD;
}

int list_names(char *const *names, int count, name_list *l)
{
    struct stat st;
    int code = EXIT_GOOD;
    *l = (name_list){0};
    for (int k = 0; k < count && !code; k++) {
        const char *name = names[k];
        bool dir = !stat(name, &st) && S_ISDIR(st.st_mode);
        if (dir) code = list_directory(l, name);
        else code = has_sizes(name) ? list_add_sizes(l, name) : list_add(l, name);
        l->directory = l->directory || dir;
    }
    return code;
}

void list_free(name_list *l)
{
    for (int k = 0; k < l->count; k++) free(l->name[k]);
    free(l->name);
}
