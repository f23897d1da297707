/* user_costs.c: the costs in the user's cache, of which there are two kinds.
 *
 *     machine     what `trisolve-bench --calibrate --save` has measured: all costs, also those of the GPU
 *     cpu-KEY     what a program has measured in its first run here: costs of the CPU, of which those count that a CPU can have
 *                 when no other program uses it
 *
 * A home may be shared by machines.  So the first file counts only where the facts in it are those of the GPU at hand, and
 * the second has a name that depends on what the CPU says of itself and on the version of the library.  Nobody has asked
 * for these files in this run: one that does not fit or cannot be read is no error, and trs_info.costs says that it was
 * ignored. */
#include "config.h"

#include "user_costs.h"

#include "base/user_cache.h"
#include "select/predict.h"
#include "select.h"

#include <inttypes.h>
#include <pthread.h>
#include <string.h>
#include <unistd.h>

/* ---- the CPU at hand ------------------------------------------------------------------------------- */

static struct {
    char words
        [200]; /* "Intel(R) Xeon(R) Processor, 2 online, caches 48K 64K 2048K 491520K, trisolve-sparse 0.9.0" */
    char name[24]; /* "cpu-8c1f27aa90b0c3d4" */
} cpu;

static void add(const char *words)
{
    const size_t used = strlen(cpu.words);
    snprintf(cpu.words + used, sizeof cpu.words - used, "%s", words);
}

/* Its name as /proc/cpuinfo has it: a line "model name : ...", or on other processors than x86 some lines that say which
 * it is. */
static void add_model(void)
{
    static const char *const lines[] = {"model name", "CPU implementer", "CPU part", "cpu\t"};
    char line[200];
    FILE *f = fopen("/proc/cpuinfo", "r");
    for (int found = 0; f && found < 3 && fgets(line, sizeof line, f) && line[0] != '\n';)
        for (size_t k = 0; k < sizeof lines / sizeof lines[0]; k++) {
            char *value = strchr(line, ':');
            if (!value || strncmp(line, lines[k], strlen(lines[k]))) continue;
            value[strcspn(value, "\n")] = '\0';
            if (found++) add(",");
            add(value + (value[1] == ' ') + 1);
        }
    if (f) fclose(f);
}

static void add_caches(void)
{
    char path[80], size[20];
    add(", caches");
    for (int k = 0; k < 8; k++) {
        snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu0/cache/index%d/size", k);
        FILE *f = fopen(path, "r");
        if (!f) return;
        if (fscanf(f, "%19s", size) == 1) add(" "), add(size);
        fclose(f);
    }
}

/* Source of the hash: Fowler, Noll, Vo, FNV-1a with 64 bits. */
static void describe_cpu(void)
{
    char online[40];
    uint64_t hash = 0xcbf29ce484222325u;
    add_model();
    snprintf(online, sizeof online, ", %ld online", sysconf(_SC_NPROCESSORS_ONLN));
    add(online);
    add_caches();
    add(", trisolve-sparse " TRS_VERSION);
    for (const char *c = cpu.words; *c; c++) hash = (hash ^ (unsigned char)*c) * 0x100000001b3u;
    snprintf(cpu.name, sizeof cpu.name, "cpu-%016" PRIx64, hash);
}

/* The path of its file; false: there is no cache. */
static bool find_cpu_file(char *path, size_t size)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, describe_cpu);
    return trs_user_cache(cpu.name, path, size);
}

/* ---- reading --------------------------------------------------------------------------------------- */

enum { TEXT = 200 }; /* characters of trs_context.costs */

/* Is there a file of that name which counts?  Then m has its costs; else m is as it was, and ignored [TEXT] says why a file
 * that is there does not count. */
static bool take(trs_machine *m, const char *file, const trs_chip *chip, char *ignored)
{
    const trs_machine before = *m;
    if (access(file, F_OK)) return false;
    const int rc = trs_machine_read(m, file);
    if (!rc && (!chip || trs_machine_fits(m, chip))) return true;
    *m = before;
    if (!rc) snprintf(ignored, TEXT, "; ignored %.150s: not measured with this GPU", file);
    else {
        snprintf(ignored, TEXT, "; ignored %.150s", trs_message());
        trs_forget();
    }
    return false;
}

/* Is there a cache with this file in its folder, or with another one?  To describe the CPU takes a millisecond, which need
 * not be spent where there is none. */
static bool has_folder(char *file)
{
    char *slash = strrchr(file, '/');
    *slash = '\0';
    const bool is_there = !access(file, F_OK);
    *slash = '/';
    return is_there;
}

bool trs_machine_from_cache(trs_context *ctx, const trs_chip *chip)
{
    char file[1000], ignored[TEXT] = "", before[TEXT];
    _Static_assert(sizeof ctx->costs == TEXT, "texts have one size");
    memcpy(before, ctx->costs, TEXT);
    if (!trs_user_cache("machine", file, sizeof file) || !has_folder(file)) return false;
    bool found = take(&ctx->machine, file, chip, ignored);
    if (found) snprintf(ctx->costs, TEXT, "%.190s", file);
    else if (find_cpu_file(file, sizeof file)) {
        found = take(&ctx->machine, file, NULL, ignored);
        if (found) trs_machine_doubt(&ctx->machine);
        if (found && chip) snprintf(ctx->costs, TEXT, "%.90s; of the CPU %.90s", before, file);
        else if (found) snprintf(ctx->costs, TEXT, "%.190s", file);
    }
    const size_t used = strlen(ctx->costs);
    snprintf(ctx->costs + used, TEXT - used, "%s", ignored);
    return found;
}

bool trs_cpu_costs_wanted(char *path, size_t size, const char **about)
{
    trs_context ctx = {.machine = *trs_machine_table()};
    trs_enter();
    const bool wanted = !getenv("TRISOLVE_MACHINE") && find_cpu_file(path, size) &&
                        !trs_machine_from_cache(&ctx, NULL);
    *about = cpu.words;
    trs_leave_silently();
    return wanted;
}
