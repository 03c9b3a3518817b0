/*
 * extreme_ref.h
 *	  Which of two numerics or intervals min and max take.
 *
 * Values that compare equal can still differ: 1.0 and 1.00, a month and thirty
 * days.  One of them wins, whatever the order of rows: of numerics the one with
 * the larger display scale; of intervals the one whose (months, days,
 * microseconds) are the least for min and the greatest for max.
 */
#ifndef GPUAGG_EXTREME_REF_H
#define GPUAGG_EXTREME_REF_H

#include "datatype/timestamp.h"
#include "utils/numeric.h"

/* Whether a wins over b; neither does when they are the same in every respect. */
extern bool gpuagg_numeric_wins(Numeric a, Numeric b, bool least);
extern bool gpuagg_interval_wins(const Interval *a, const Interval *b, bool least);

#endif /* GPUAGG_EXTREME_REF_H */
