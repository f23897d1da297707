/* user_costs.h: the costs in the user's cache. */
#ifndef TRS_USER_COSTS_H
#define TRS_USER_COSTS_H

#include "base/device.h"

/* ctx->machine and ctx->costs from the file in the user's cache, if there is one and it was measured with this GPU
 * (NULL: none is used); else ctx->costs says why not, and nothing else changes. */
void trs_machine_from_cache(trs_context *ctx, const trs_chip *chip);

#endif
