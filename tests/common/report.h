/* report.h: what failures are reported by: the largest of several errors, and names. */
#ifndef TRS_TESTS_REPORT_H
#define TRS_TESTS_REPORT_H

/* Of trs_dtype, trs_op, trs_layout, trs_order and trs_format. */
extern const char *const type_name[4], *const op_name[3], *const layout_name[2];
extern const char *const order_name[3], *const format_name[5];

/* Where each case has the name of a solver: only those that match TRS_TESTS run, unless TRS_CASE says which. */
void choose_solvers(void);
/* TRS_FEW=N: every Nth case of a sample, for tools that make programs slow.  Returns N; 1: all of them. */
int case_step(void);

/* The larger of both, NaN if one of them is; for folds, worst = larger (worst, error).  fmax would lose a NaN, which is the
 * worst error of all. */
static inline double larger(double a, double b)
{
    return b <= a || a != a ? a : b;
}

#endif
