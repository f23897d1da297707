/* view.c: what -ksp_view, -mat_trisolve_view and MatGetInfo tell about factors. */
#include "config.h"

#include "factor.h"

static PetscErrorCode view_plan(PetscViewer viewer, const char *name, const trs_plan *plan)
{
    PetscViewerFormat format;
    trs_info info;
    PetscFunctionBegin;
    if (!plan) PetscFunctionReturn(0);
    TrsPetscCall(trs_plan_info(plan, &info));
    PetscCall(PetscViewerASCIIPrintf(viewer,
                                     "%s: %s, %" PetscInt64_FMT " entries, %" PetscInt64_FMT
                                     " levels, widest %" PetscInt64_FMT "\n",
                                     name, info.solver, (PetscInt64)info.nnz,
                                     (PetscInt64)info.levels, (PetscInt64)info.widest));
    PetscCall(PetscViewerGetFormat(viewer, &format));
    if (format == PETSC_VIEWER_ASCII_INFO_DETAIL)
        PetscCall(PetscViewerASCIIPrintf(viewer, "  %s\n", info.reason));
    PetscFunctionReturn(0);
}

static PetscErrorCode view_factors(Mat F, PetscViewer viewer)
{
    const trs_petsc *f = F->data;
    trs_lu_info info;
    PetscFunctionBegin;
    TrsPetscCall(trs_lu_get_info(f->lu, &info));
    PetscCall(PetscViewerASCIIPrintf(viewer, "trisolve-sparse %s: %s, ordering %s\n", trs_version(),
                                     info.library, f->row ? "by PETSc" : info.ordering));
    PetscCall(view_plan(viewer, "L", info.l));
    PetscCall(view_plan(viewer, "U", info.u));
    if (f->options.device != TRS_HOST)
        PetscCall(PetscViewerASCIIPrintf(viewer, "GPU %d\n", f->options.device - TRS_CUDA(0)));
    if (f->shift > 0)
        PetscCall(PetscViewerASCIIPrintf(viewer, "diagonal shifted by %g\n", (double)f->shift));
    PetscCall(PetscViewerASCIIPrintf(viewer, "factored in %g s, analysed in %g s\n",
                                     info.seconds_factor, info.seconds_analyse));
    PetscFunctionReturn(0);
}

static PetscErrorCode view(Mat F, PetscViewer viewer)
{
    const trs_petsc *f = F->data;
    PetscBool text;
    PetscFunctionBegin;
    PetscCall(PetscObjectTypeCompare((PetscObject)viewer, PETSCVIEWERASCII, &text));
    if (text && f->lu && !F->factorerrortype) PetscCall(view_factors(F, viewer));
    PetscFunctionReturn(0);
}

static PetscErrorCode get_info(Mat F, MatInfoType type, MatInfo *info)
{
    PetscFunctionBegin;
    (void)type; /* one process has all of F */
    *info = F->info;
    PetscFunctionReturn(0);
}

PetscErrorCode trs_petsc_set_view(Mat F)
{
    PetscFunctionBegin;
    F->ops->view = view;
    F->ops->getinfo = get_info;
    PetscFunctionReturn(0);
}
