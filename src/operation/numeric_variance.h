/*
 * numeric_variance.h
 *	  Variances and standard deviations with core's digits and display scales.
 */
#ifndef GPUAGG_NUMERIC_VARIANCE_H
#define GPUAGG_NUMERIC_VARIANCE_H

#include "fmgr.h"
#include "utils/numeric.h"

/*
 * The square root of v > 0, rounded half up to v's own display scale, in the
 * current context, where the work on the way stays too.
 */
extern Datum gpuagg_numeric_root(Datum v);

/*
 * The variance above / below (root: its square root), both scaled as in core:
 * above is n * squares - sum * sum, with what is not above 0 standing for 0, below is n * n or
 * n * (n - 1).
 */
extern Datum gpuagg_numeric_ratio_variance(Numeric above, Numeric below, bool root);

#endif /* GPUAGG_NUMERIC_VARIANCE_H */
