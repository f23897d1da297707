/* refresh.c: which plans take new values in the order of a stream and without the host (refresh_device.c), how much their
 * inverses grew, and values from other places. */
#include "config.h"

#include "base/device.h"
#include "refresh.h"

void trs_plan_require_refresh(trs_plan *p)
{
    p->ctx.refreshes = true;
}

bool trs_plan_refreshes(const trs_plan *p)
{
    if (!trs_plan_is_analysed(p) || p->general || p->P || p->skip) return false;
    for (int k = 0; k < p->sides; k++) {
        if (!p->side[k].instance.refreshes) return false;
        for (const trs_retired *r = p->side[k].retired; r; r = r->next)
            if (!r->instance.refreshes) return false;
    }
    return true;
}

int trs_plan_growth(trs_plan *p, void *stream, double *growth)
{
    int rc = TRS_OK;
    if (trs_is_on_gpu(&p->side[0].instance)) rc = trs_gpu_use(&p->ctx);
    *growth = 0;
    for (int k = 0; k < p->sides && !rc; k++) {
        trs_instance *i = &p->side[k].instance;
        rc = trs_instance_find_growth(i, stream);
        if (!(i->growth <= *growth)) *growth = i->growth; /* a NaN is not less */
    }
    return rc;
}

/* ---- other places ---- */

int trs_plan_redirect(trs_plan *p, const trs_mat *m, const int64_t *to)
{
    for (int k = 0; k < p->sides; k++) {
        trs_tri *t = &p->side[k].op.tri;
        if (t->src) continue;
        t->src = trs_new(&p->ctx, t->nnz, sizeof *t->src, "places of the values");
        if (!t->src) return TRS_EMEM;
        for (int64_t e = 0; e < t->nnz; e++) t->src[e] = e;
    }
    for (int k = 0; k < p->sides; k++) {
        const trs_tri *t = &p->side[k].op.tri;
        for (int64_t e = 0; e < t->nnz; e++)
            if (t->src[e] >= 0) t->src[e] = to[t->src[e]];
    }
    p->given = *m;
    p->imported_is_t = m->format != TRS_CSR;
    return TRS_OK;
}
