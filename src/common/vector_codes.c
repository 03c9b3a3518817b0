/*
 * vector_codes.c
 *	  Conditions on strings of a vector program, decided once for each entry of their table.
 *
 * Only entries of rows that are evaluated are decided.
 */
#include "common/vector_step.h"

#define DECIDED 1
#define HOLDS	2

static uint8_t
decide_one(const GpuaggVectorStep *step, const GpuaggVectorCodes *codes, int32_t code,
		   uint8_t *verdicts, GpuaggVectorDecide decide, const void *arg)
{
	if ((verdicts[code] & DECIDED) == 0)
		verdicts[code] = decide(step, &codes->entries[code], arg) ? DECIDED | HOLDS : DECIDED;
	return verdicts[code];
}

/* 64 rows, all of them wanted. */
static uint64_t
decide_word(const GpuaggVectorStep *step, const GpuaggVectorCodes *codes, const int32_t *of_rows,
			uint8_t *verdicts, GpuaggVectorDecide decide, const void *arg)
{
	uint8_t bytes[64];
	uint8_t all = DECIDED;

	for (int i = 0; i < 64; i++)
	{
		uint8_t verdict = verdicts[of_rows[i]];

		all &= verdict;
		bytes[i] = verdict >> 1;
	}
	if (all == 0)
		for (int i = 0; i < 64; i++)
			bytes[i] = decide_one(step, codes, of_rows[i], verdicts, decide, arg) >> 1;
	return gpuagg_vector_pack(bytes);
}

bool
gpuagg_vector_by_code(const GpuaggVectorStep *step, const uint64_t *wanted, uint64_t *out,
					  GpuaggVectorDecide decide, const void *arg)
{
	const GpuaggVectorRunner *runner = step->runner;
	const GpuaggVectorCodes *codes;
	uint8_t *verdicts;

	if (step->coded < 0 || runner->codes == NULL || runner->codes[step->coded].codes == NULL)
		return false;
	codes = &runner->codes[step->coded];
	verdicts = runner->verdicts(runner->owner,
								(int) (step->instruction - runner->program->instructions), codes);
	for (int w = 0; w < gpuagg_vector_words(step); w++)
	{
		const int32_t *of_rows = codes->codes + 64 * w;

		out[w] = 0;
		if (wanted[w] == UINT64_MAX)
			out[w] = decide_word(step, codes, of_rows, verdicts, decide, arg);
		else
			for (uint64_t left = wanted[w]; left != 0; left &= left - 1)
			{
				int i = __builtin_ctzll(left);
				uint8_t verdict = decide_one(step, codes, of_rows[i], verdicts, decide, arg);

				out[w] |= (uint64_t) (verdict >> 1) << i;
			}
	}
	return true;
}
