/*
 * groups.c
 *	  Answers with groups, for tests.
 */
#include "groups.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int
type_of(const Question *question, uint32_t aggregate)
{
	uint16_t value = question->aggregates[aggregate].value;

	return value != GPUAGG_VECTOR_NONE ? question->types[value] : 0;
}

static void
lay_out(const Question *question, GpuaggGroupLayout *layout)
{
	uint8_t keys[GPUAGG_GROUP_KEYS];
	uint8_t types[GPUAGG_GROUP_AGGREGATES];

	for (uint32_t k = 0; k < question->query.nkeys; k++)
		keys[k] = question->types[question->keys[k]];
	for (uint32_t a = 0; a < question->query.naggregates; a++)
		types[a] = (uint8_t) type_of(question, a);
	CHECK(gpuagg_group_layout(layout, keys, question->query.nkeys, question->aggregates, types,
							  question->query.naggregates));
}

static int
compare_keys(const void *a, const void *b)
{
	return memcmp(a, b, 16);
}

/* Whether no two records have one key. */
static bool
keys_differ(const GpuaggGroupLayout *layout, const uint32_t *records, uint64_t n)
{
	uint64_t(*keys)[2] = calloc(n + 1, sizeof(*keys));
	bool differ = true;

	for (uint64_t g = 0; g < n; g++)
		memcpy(keys[g], records + g * layout->words, 8 * layout->key_words);
	qsort(keys, n, sizeof(*keys), compare_keys);
	for (uint64_t g = 1; g < n; g++)
		differ &= compare_keys(keys[g - 1], keys[g]) != 0;
	free(keys);
	return differ;
}

bool
groups_merge(const Lease *lease, const Question *question, uint32_t nchunks,
			 const GpuaggReply *reply, GpuaggQueryTotal *totals, uint64_t *ngroups)
{
	uint64_t n = reply->u.query.ngroups;
	uint64_t at = gpuagg_query_groups_at(nchunks);
	const char *answer = lease->base + ANSWER_AT;
	const uint32_t *packed = (const uint32_t *) (answer + at + GPUAGG_QUERY_MASK_BYTES);
	const GpuaggGroupFar *far;
	GpuaggGroupLayout layout;
	GpuaggGroupPacking packing;
	uint32_t *records;
	bool right;

	lay_out(question, &layout);
	gpuagg_group_packing(&layout, &packing);
	gpuagg_group_packing_keep(&packing, (const uint32_t *) (answer + at));
	at += GPUAGG_QUERY_MASK_BYTES + gpuagg_query_records_bytes(n, packing.words);
	far = (const GpuaggGroupFar *) (answer + at);
	if (reply->u.query.incomplete != 0 ||
		reply->u.query.bytes != at + reply->u.query.nfar * sizeof(GpuaggGroupFar))
	{
		printf("answer of %llu groups, %u apart, incomplete %u\n", (unsigned long long) n,
			   reply->u.query.nfar, reply->u.query.incomplete);
		return false;
	}
	*ngroups += n;
	records = calloc(n + 1, layout.words * sizeof(uint32_t));
	for (uint64_t g = 0; g < n; g++)
		gpuagg_group_unpack(&packing, packed + g * packing.words, records + g * layout.words);
	right = keys_differ(&layout, records, n);
	for (uint64_t g = 0; g < n; g++)
		for (uint32_t a = 0; a < question->query.naggregates; a++)
		{
			GpuaggQueryTotal total;

			right &= gpuagg_group_total(&layout, records + g * layout.words, a, &total) != 0;
			gpuagg_query_total_merge(&totals[a], &total, question->aggregates[a].op,
									 type_of(question, a));
		}
	free(records);
	for (uint32_t i = 0; i < reply->u.query.nfar; i++)
	{
		GpuaggQueryTotal total;

		if (far[i].aggregate >= question->query.naggregates)
			return false;
		gpuagg_query_total_init(&total);
		total.reduced.n = 1;
		gpuagg_reduced_add_float(&total.reduced, far[i].value,
								 question->aggregates[far[i].aggregate].op);
		gpuagg_query_total_merge(&totals[far[i].aggregate], &total,
								 question->aggregates[far[i].aggregate].op, GPUAGG_VECTOR_FLOAT64);
	}
	return right;
}

bool
totals_are_equal(const Question *question, const GpuaggQueryTotal *a, const GpuaggQueryTotal *b)
{
	bool equal = true;

	for (uint32_t i = 0; i < question->query.naggregates; i++)
	{
		int op = question->aggregates[i].op;
		int type = type_of(question, i);
		uint8_t bytes[2][GPUAGG_QUERY_TOTAL_MAX_BYTES];
		size_t n = gpuagg_query_total_write(&a[i], op, type, bytes[0]);

		if (gpuagg_query_total_write(&b[i], op, type, bytes[1]) == n &&
			memcmp(bytes[0], bytes[1], n) == 0)
			continue;
		printf("aggregate %u, op %d, type %d: n %llu sum %llx, not n %llu sum %llx\n", i, op, type,
			   (unsigned long long) b[i].reduced.n, (unsigned long long) b[i].reduced.sum.lo,
			   (unsigned long long) a[i].reduced.n, (unsigned long long) a[i].reduced.sum.lo);
		equal = false;
	}
	return equal;
}
