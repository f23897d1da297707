/* user_costs.c: the costs that `trisolve-bench --calibrate --save` has put into the user's cache.
 *
 * A home may be shared by machines with different GPUs, so that the file counts only where the facts in it are those of
 * the GPU at hand.  Nobody has asked for this file in this run: one that does not fit or cannot be read is no error,
 * and trs_info.costs says that it was ignored. */
#include "config.h"

#include "user_costs.h"

#include "base/user_cache.h"
#include "select.h"

#include <string.h>
#include <unistd.h>

static void say_ignored(trs_context *ctx, const char *file, const char *why)
{
    const size_t used = strlen(ctx->costs);
    snprintf(ctx->costs + used, sizeof ctx->costs - used, "; ignored %.150s%s", file, why);
}

void trs_machine_from_cache(trs_context *ctx, const trs_chip *chip)
{
    const trs_machine before = ctx->machine;
    char file[1000];
    if (!trs_user_cache("machine", file, sizeof file) || access(file, F_OK)) return;
    const int rc = trs_machine_read(ctx, file);
    if (!rc && (!chip || trs_machine_fits(&ctx->machine, chip))) {
        snprintf(ctx->costs, sizeof ctx->costs, "%.190s", file);
        return;
    }
    ctx->machine = before;
    if (!rc) say_ignored(ctx, file, ": not measured with this GPU");
    else {
        say_ignored(ctx, trs_message(), "");
        trs_forget();
    }
}
