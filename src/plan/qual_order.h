/*
 * qual_order.h
 *	  The order in which core's nodes test a table's or a subquery's conditions.
 */
#ifndef GPUAGG_QUAL_ORDER_H
#define GPUAGG_QUAL_ORDER_H

#include "compat.h"

#include "nodes/pathnodes.h"

/*
 * The clauses of these RestrictInfos by security level, unless they are leakproof and cheap, then
 * by cost, as order_qual_clauses() in createplan.c has them.
 */
extern List *gpuagg_qual_order(PlannerInfo *root, const List *restrictions);

#endif /* GPUAGG_QUAL_ORDER_H */
