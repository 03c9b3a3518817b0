/*
 * vector_choice.c
 *	  Instructions of a vector program: logic with three values, and choices.
 *
 * They do not look at single rows but at words: which rows are true, which are false,
 * which take their value from b.
 */
#include "common/vector_step.h"

static void
run_logic(const GpuaggVectorStep *step)
{
	int op = step->instruction->op;
	const uint64_t *a = step->a->values;
	uint64_t *out = step->values;

	step->out->values = step->values;
	step->out->valid = NULL;
	switch (op)
	{
		case GPUAGG_VECTOR_AND:
		case GPUAGG_VECTOR_OR:
		{
			const uint64_t *b = step->b->values;
			uint64_t turn = op == GPUAGG_VECTOR_OR ? UINT64_MAX
												   : 0; /* a or b: not (not a and not b) */

			if (step->a->valid != NULL || step->b->valid != NULL)
				step->out->valid = step->valid;
			for (int w = 0; w < GPUAGG_VECTOR_WORDS; w++)
			{
				uint64_t a_known = gpuagg_vector_valid_word(step->a, w);
				uint64_t b_known = gpuagg_vector_valid_word(step->b, w);
				uint64_t x = a[w] ^ turn;
				uint64_t y = b[w] ^ turn;
				uint64_t no = (a_known & ~x) | (b_known & ~y);

				out[w] = ~no ^ turn;
				step->valid[w] = no | (a_known & b_known);
			}
			break;
		}
		case GPUAGG_VECTOR_NOT:
			if (step->a->valid != NULL)
				step->out->valid = memcpy(step->valid, step->a->valid,
										  GPUAGG_VECTOR_WORDS * sizeof(uint64_t));
			for (int w = 0; w < GPUAGG_VECTOR_WORDS; w++)
				out[w] = ~a[w];
			break;
		case GPUAGG_VECTOR_IS_TRUE:
			for (int w = 0; w < GPUAGG_VECTOR_WORDS; w++)
				out[w] = gpuagg_vector_true_word(step->a, w);
			break;
		case GPUAGG_VECTOR_IS_FALSE:
			for (int w = 0; w < GPUAGG_VECTOR_WORDS; w++)
				out[w] = ~a[w] & gpuagg_vector_valid_word(step->a, w);
			break;
		default: /* IS_NULL */
			for (int w = 0; w < GPUAGG_VECTOR_WORDS; w++)
				out[w] = ~gpuagg_vector_valid_word(step->a, w);
	}
}

void
gpuagg_vector_choose_logic(GpuaggVectorStep *step)
{
	step->run = run_logic;
}

/* out = a where `take` has a bit, else b; 64 values. */
#define TAKE(T)                                                                                    \
	static void take_##T(uint64_t take, const T *restrict a, const T *restrict b, T *restrict out) \
	{                                                                                              \
		uint8_t bytes[64];                                                                         \
                                                                                                   \
		gpuagg_vector_unpack(take, bytes);                                                         \
		for (int i = 0; i < 64; i++)                                                               \
		{                                                                                          \
			T mask = (T) (0 - (T) bytes[i]);                                                       \
                                                                                                   \
			out[i] = (a[i] & mask) | (b[i] & (T) ~mask);                                           \
		}                                                                                          \
	}

TAKE(uint16_t)
TAKE(uint32_t)
TAKE(uint64_t)

typedef struct Pair
{
	uint64_t half[2];
} Pair;

static void
take_pair(uint64_t take, const Pair *a, const Pair *b, Pair *out)
{
	for (int i = 0; i < 64; i++)
		out[i] = *(take >> i & 1 ? a + i : b + i);
}

/* Values of the register: a's in the words' rows that `take` has, else b's. */
static void
take_values(const GpuaggVectorStep *step, const uint64_t *take)
{
	int type = step->instruction->type;
	size_t size = gpuagg_vector_type_size(type);
	const uint8_t *a = step->a->values;
	const uint8_t *b = step->b != NULL ? step->b->values : a;
	uint8_t *out = step->values;
	int words = gpuagg_vector_words(step);

	for (int w = 0; w < words; w++, a += 64 * size, b += 64 * size, out += 64 * size)
	{
		uint64_t live = step->runner->live[w];

		if (type == GPUAGG_VECTOR_BOOL)
			((uint64_t *) step->values)[w] =
				(((const uint64_t *) step->a->values)[w] & take[w]) |
				(((const uint64_t *) (step->b != NULL ? step->b : step->a)->values)[w] & ~take[w]);
		else if (live == 0)
			continue;
		else if ((take[w] & live) == live)
			memcpy(out, a, 64 * size);
		else if ((take[w] & live) == 0)
			memcpy(out, b, 64 * size);
		else if (size == 2)
			take_uint16_t(take[w], (const uint16_t *) a, (const uint16_t *) b, (uint16_t *) out);
		else if (size == 4)
			take_uint32_t(take[w], (const uint32_t *) a, (const uint32_t *) b, (uint32_t *) out);
		else if (size == 8)
			take_uint64_t(take[w], (const uint64_t *) a, (const uint64_t *) b, (uint64_t *) out);
		else
			take_pair(take[w], (const Pair *) a, (const Pair *) b, (Pair *) out);
	}
}

/* LEAST, GREATEST: b if it comes first of the two, or is the only one. */
static void
take_b(const GpuaggVectorStep *step, uint64_t *take)
{
	bool least = step->instruction->op == GPUAGG_VECTOR_LEAST;
	const void *a = step->a->values;
	const void *b = step->b->values;
	uint64_t both[GPUAGG_VECTOR_WORDS];
	uint64_t better[GPUAGG_VECTOR_WORDS] = {0};

	for (int w = 0; w < GPUAGG_VECTOR_WORDS; w++)
		both[w] = step->runner->live[w] & gpuagg_vector_valid_word(step->a, w) &
				  gpuagg_vector_valid_word(step->b, w);
	gpuagg_vector_less(step->instruction->type)(least ? b : a, least ? a : b, better, both,
												gpuagg_vector_words(step));
	for (int w = 0; w < GPUAGG_VECTOR_WORDS; w++)
		take[w] = (better[w] & both[w]) | ~gpuagg_vector_valid_word(step->a, w);
}

static void
run_choice(const GpuaggVectorStep *step)
{
	uint64_t take_a[GPUAGG_VECTOR_WORDS];
	int op = step->instruction->op;

	step->out->values = step->values;
	if (op == GPUAGG_VECTOR_LEAST || op == GPUAGG_VECTOR_GREATEST)
		take_b(step, take_a);
	for (int w = 0; w < GPUAGG_VECTOR_WORDS; w++)
	{
		uint64_t a = gpuagg_vector_valid_word(step->a, w);
		uint64_t b = step->b != NULL ? gpuagg_vector_valid_word(step->b, w) : UINT64_MAX;
		uint64_t c = step->c != NULL ? gpuagg_vector_true_word(step->c, w) : 0;

		switch (op)
		{
			case GPUAGG_VECTOR_SELECT:
				take_a[w] = c;
				step->valid[w] = (c & a) | (~c & b);
				break;
			case GPUAGG_VECTOR_NULLIF:
				take_a[w] = UINT64_MAX;
				step->valid[w] = a & ~c;
				break;
			case GPUAGG_VECTOR_COALESCE:
				take_a[w] = a;
				step->valid[w] = a | b;
				break;
			default: /* LEAST, GREATEST */
				take_a[w] = ~take_a[w];
				step->valid[w] = a | b;
		}
	}
	step->out->valid = step->valid;
	take_values(step, take_a);
}

void
gpuagg_vector_choose_choice(GpuaggVectorStep *step)
{
	step->run = run_choice;
}
