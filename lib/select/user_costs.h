/* user_costs.h: costs in the user's cache, and the name by which files know the GPU that they belong to. */
#ifndef TRS_USER_COSTS_H
#define TRS_USER_COSTS_H

#include "base/context.h"

/* ctx->machine and ctx->costs from the file in the user's cache, if there is one, and if it was measured with the GPU of
 * ctx->device where gpu says that it matters; else ctx->costs says why not, and nothing else changes. */
void trs_machine_from_cache(trs_context *ctx, bool gpu);
/* The GPU by its name and size, "NVIDIA H200, 132 SMs, 139 GiB"; "none" where there is none. */
void trs_chip_name(int device, char *name, size_t size);

#endif
