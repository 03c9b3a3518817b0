/*
 * family.h
 *	  What the states of every family of aggregates have in common: they are
 *	  combined, cross to another process, and cross to another server.
 *
 * A family is the arguments' types whose sums are held in the same way.  Its
 * state stays its own; the table below is all that others know of it.
 */
#ifndef GPUAGG_FAMILY_H
#define GPUAGG_FAMILY_H

#include "fmgr.h"
#include "lib/stringinfo.h"

#include "common/codec.h"
#include "common/envelope.h"

typedef struct StateFamily
{
	char tag; /* of its states on the wire */

	/* Of the query that uses it: gpuagg_begin(), or what it needs thereof. */
	void (*begin)(FmgrInfo *flinfo);

	/* An empty state, of sums or of moments; it opens no batch and reports no row. */
	void *(*make)(MemoryContext context, bool moments);

	/* Whether it has sums of squares; how many rows it has, once gathered. */
	bool (*moments)(const void *state);
	int64 (*count)(const void *state);

	/* Ends the state's batch, so that the state itself holds every row; again: nothing. */
	void (*gather)(void *state);

	/*
	 * Adds the rows of a gathered state; the result lies where `into` does.  Where
	 * into has squares, from must have them too.
	 */
	void (*merge)(void *into, void *from);

	/* Appends the bytes of a gathered state. */
	void (*encode)(void *state, StringInfo buf);

	/* Reads a state into the current context; NULL when the bytes are none. */
	void *(*decode)(GpuaggReader *reader);

	/* Of a gathered state; NULL pointers where the family has no such aggregate. */
	Datum (*sum)(void *state, GpuaggStateType type, bool *isnull);
	Datum (*average)(void *state, bool *isnull);
	Datum (*variance)(void *state, bool sample, bool root, bool *isnull);
} StateFamily;

extern const StateFamily gpuagg_int_family;
extern const StateFamily gpuagg_float_family;
extern const StateFamily gpuagg_numeric_family;
extern const StateFamily gpuagg_interval_family;

/* Bodies of the SQL functions of the same names. */
extern Datum gpuagg_family_combine(FunctionCallInfo fcinfo, const StateFamily *family);
extern Datum gpuagg_family_serialize(FunctionCallInfo fcinfo, const StateFamily *family);
extern Datum gpuagg_family_deserialize(FunctionCallInfo fcinfo, const StateFamily *family);

/* Final functions; type: that of the sum's argument. */
extern Datum gpuagg_family_sum(FunctionCallInfo fcinfo, const StateFamily *family,
							   GpuaggStateType type);
extern Datum gpuagg_family_average(FunctionCallInfo fcinfo, const StateFamily *family);
extern Datum gpuagg_family_variance(FunctionCallInfo fcinfo, const StateFamily *family, bool sample,
									bool root);

/* The SQL functions gpuagg_NAME_...; of sums, their name and argument type. */
#define DEFINE_FAMILY_FUNCTION(name, body) \
	PG_FUNCTION_INFO_V1(name);             \
                                           \
	Datum name(PG_FUNCTION_ARGS)           \
	{                                      \
		return body;                       \
	}

#define DEFINE_FAMILY_SUM(name, sum, type)        \
	DEFINE_FAMILY_FUNCTION(gpuagg_##name##_##sum, \
						   gpuagg_family_sum(fcinfo, &gpuagg_##name##_family, type))

#define DEFINE_FAMILY_FUNCTIONS(name)                                                  \
	DEFINE_FAMILY_FUNCTION(gpuagg_##name##_combine,                                    \
						   gpuagg_family_combine(fcinfo, &gpuagg_##name##_family))     \
	DEFINE_FAMILY_FUNCTION(gpuagg_##name##_serialize,                                  \
						   gpuagg_family_serialize(fcinfo, &gpuagg_##name##_family))   \
	DEFINE_FAMILY_FUNCTION(gpuagg_##name##_deserialize,                                \
						   gpuagg_family_deserialize(fcinfo, &gpuagg_##name##_family)) \
	DEFINE_FAMILY_FUNCTION(gpuagg_##name##_avg,                                        \
						   gpuagg_family_average(fcinfo, &gpuagg_##name##_family))

#define DEFINE_FAMILY_VARIANCES(name)                                                             \
	DEFINE_FAMILY_FUNCTION(gpuagg_##name##_var_pop,                                               \
						   gpuagg_family_variance(fcinfo, &gpuagg_##name##_family, false, false)) \
	DEFINE_FAMILY_FUNCTION(gpuagg_##name##_var_samp,                                              \
						   gpuagg_family_variance(fcinfo, &gpuagg_##name##_family, true, false))  \
	DEFINE_FAMILY_FUNCTION(gpuagg_##name##_stddev_pop,                                            \
						   gpuagg_family_variance(fcinfo, &gpuagg_##name##_family, false, true))  \
	DEFINE_FAMILY_FUNCTION(gpuagg_##name##_stddev_samp,                                           \
						   gpuagg_family_variance(fcinfo, &gpuagg_##name##_family, true, true))

/* Reads a state that encode() wrote out of a message; raises an error when there is none. */
extern void *gpuagg_family_receive(const StateFamily *family, StringInfo buf);

#endif /* GPUAGG_FAMILY_H */
