/* user_costs.h: the costs in the user's cache. */
#ifndef TRS_USER_COSTS_H
#define TRS_USER_COSTS_H

#include "base/device.h"

/* ctx->machine and ctx->costs from the file that was calibrated, if there is one and it was measured with this GPU
 * (NULL: none is used), else from that of this CPU, which has no costs of a GPU; ctx->costs says why a file that is there
 * does not count.  Returns false where no file does. */
bool trs_machine_from_cache(trs_context *ctx, const trs_chip *chip);

#endif
