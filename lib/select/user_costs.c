/* user_costs.c: the costs that `trisolve-bench --calibrate --save` has put into the user's cache.
 *
 * A home may be shared by machines with different GPUs, so that the file counts only where it was measured with the GPU
 * at hand, which the line "# GPU: " of the program tells.  Nobody has asked for this file in this run: one that does not
 * fit or cannot be read is no error, and trs_info.costs says that it was ignored. */
#include "config.h"

#include "base/user_cache.h"
#include "select.h"
#include "user_costs.h"

#include <pthread.h>
#include <string.h>

/* The driver is slow to tell all the properties of a device, among which the name is: it is asked once, and again where
 * another device is meant. */
static struct {
    pthread_mutex_t lock;
    int device;
    char name[200]; /* "": not asked yet, or there is none */
} chip = {.lock = PTHREAD_MUTEX_INITIALIZER};

static void ask_chip_name(int device)
{
    chip.device = device;
    if (trs_device_name(TRS_CUDA(device), chip.name, sizeof chip.name)) {
        trs_forget();
        chip.name[0] = '\0';
    }
    char *driver = strstr(chip.name, ", driver"); /* which is no part of the chip */
    if (driver) *driver = '\0';
}

void trs_chip_name(int device, char *name, size_t size)
{
    pthread_mutex_lock(&chip.lock);
    if (!chip.name[0] || chip.device != device) ask_chip_name(device);
    snprintf(name, size, "%s", chip.name[0] ? chip.name : "none");
    pthread_mutex_unlock(&chip.lock);
}

/* Does the file have a line "# GPU: " with the name of this GPU? */
static bool is_of_gpu(FILE *f, int device)
{
    static const char start[] = "# GPU: ";
    char line[300], name[200];
    trs_chip_name(device, name, sizeof name);
    const size_t skip = sizeof start - 1, length = strlen(name);
    while (fgets(line, sizeof line, f)) {
        if (strncmp(line, start, skip)) continue;
        const char *end = line + skip + length;
        return !strncmp(line + skip, name, length) && (*end == ',' || *end == '\n');
    }
    return false;
}

static void say_ignored(trs_context *ctx, const char *file, const char *why)
{
    const size_t used = strlen(ctx->costs);
    snprintf(ctx->costs + used, sizeof ctx->costs - used, "; ignored %.150s%s", file, why);
}

void trs_machine_from_cache(trs_context *ctx, bool gpu)
{
    const trs_machine before = ctx->machine;
    char file[1000];
    FILE *f = trs_user_cache("machine", file, sizeof file) ? fopen(file, "r") : NULL;
    if (!f) return;
    const bool fits = !gpu || is_of_gpu(f, ctx->device);
    fclose(f);
    if (!fits) say_ignored(ctx, file, ": not measured with this GPU");
    else if (!trs_machine_read(ctx, file)) snprintf(ctx->costs, sizeof ctx->costs, "%.190s", file);
    else {
        ctx->machine = before;
        say_ignored(ctx, trs_message(), "");
        trs_forget();
    }
}
