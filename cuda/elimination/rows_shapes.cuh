/* rows_shapes.cuh: the shapes that have a row kernel. */
#ifndef TRS_ELIMINATION_ROWS_SHAPES_CUH
#define TRS_ELIMINATION_ROWS_SHAPES_CUH

#include "rows.cuh"

/* Calls f.operator()<lanes, each, rows> () for each shape, those with the fewest places first. */
template <class F> inline void for_shapes(F f)
{
    f.template operator()<8, 1, 1>();
    f.template operator()<16, 1, 1>();
    f.template operator()<32, 1, 1>();
    f.template operator()<32, 2, 1>();
    f.template operator()<32, 3, 1>();
    f.template operator()<32, 4, 1>();
    f.template operator()<16, 1, 2>();
    f.template operator()<32, 1, 2>();
    f.template operator()<32, 2, 2>();
    f.template operator()<32, 4, 2>();
    f.template operator()<16, 1, 3>();
    f.template operator()<32, 1, 3>();
    f.template operator()<32, 2, 3>();
    f.template operator()<32, 3, 3>();
    f.template operator()<32, 1, 4>();
    f.template operator()<32, 2, 4>();
}

/* The kernels of one type: rows_f32.cu and so on.  NULL: there is none of this shape. */
const void *row_kernel_f32(row_shape s);
const void *row_kernel_f64(row_shape s);
const void *row_kernel_c32(row_shape s);
const void *row_kernel_c64(row_shape s);

#endif
