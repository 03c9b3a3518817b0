/*
 * vector_step.h
 *	  What vector_run.c and the files of instructions share.
 *
 * A step is an instruction made ready to run: its registers as pointers, and the
 * loop for its types.  Loops work in words of 64 rows, and leave out words in which
 * no row is wanted; of the others they compute the few wanted ones, or all rows, whatever
 * lies there, so no value may trap.
 */
#ifndef GPUAGG_VECTOR_STEP_H
#define GPUAGG_VECTOR_STEP_H

#include <stdbool.h>
#include <string.h>

#include "common/vector_run.h"

#define VECTOR_INLINE static inline __attribute__((always_inline))

/*
 * A loop of values: out[i] = a[i] op b[i] for the wanted rows.  Returns 0 only if no
 * row of the words that it computed is to be flagged.
 */
typedef uint64_t (*GpuaggVectorLoop)(const void *a, const void *b, void *out,
									 const uint64_t *wanted, int words);

/* Which of the 64 rows from a and b on are to be flagged; b stands still where b_step is 0. */
typedef uint64_t (*GpuaggVectorFlags)(const void *a, const void *b, int b_step);

/*
 * Loops are compiled twice: for every processor of the kind, and, where it says so, for
 * one with wider vector registers.
 */
#if defined(__x86_64__)
#define VECTOR_WIDE __attribute__((target("avx2")))
#else
#define VECTOR_WIDE
#endif

/* Which of the two is right: 0 or 1. */
extern int gpuagg_vector_width(void);

/* Loops of one operation over one type, by which operand is constant; [1]: wide. */
typedef struct GpuaggVectorLoops
{
	GpuaggVectorLoop vectors[2];
	GpuaggVectorLoop b_constant[2];
	GpuaggVectorLoop a_constant[2];
	GpuaggVectorFlags flags;
} GpuaggVectorLoops;

/* A loop of comparisons, into a bitmap. */
typedef void (*GpuaggVectorCompare)(const void *a, const void *b, uint64_t *out,
									const uint64_t *wanted, int words);

typedef struct GpuaggVectorStep GpuaggVectorStep;

struct GpuaggVectorStep
{
	void (*run)(const GpuaggVectorStep *step);
	const GpuaggVectorInstruction *instruction;
	GpuaggVectorRunner *runner;
	const GpuaggVector *a; /* registers; NULL: no such operand */
	const GpuaggVector *b;
	const GpuaggVector *c;
	const GpuaggVector *mask;
	GpuaggVector *out;
	void *values; /* memory of out */
	uint64_t *valid;
	bool a_constant; /* all values of a are those of a constant */
	bool b_constant;
	bool inverted; /* comparisons: the loop gives the contrary */
	bool swapped;  /* comparisons: the loop takes b and a */
	bool once;	   /* CONSTANT: filled when constants change */
	bool has_null; /* of those in `set` a constant is NULL */
	int coded;	   /* conditions: the column of strings that they are on, beside constants; or -1 */
	bool followed; /* COLUMN of strings: some instruction looks at these, and not at codes */
	int b_step;	   /* 0: `scalar` stands for b */
	const void *scalar;
	void *set; /* IN, IN_RANGE, zones: the constants as values of the type, IN's sorted */
	GpuaggVectorLoop loop;
	GpuaggVectorFlags flags;
	GpuaggVectorCompare compare;
};

/* They fill run and what it needs; instructions are checked before. */
extern void gpuagg_vector_choose_arithmetic(GpuaggVectorStep *step);
extern void gpuagg_vector_choose_cast(GpuaggVectorStep *step);
extern void gpuagg_vector_choose_time(GpuaggVectorStep *step);
extern void gpuagg_vector_choose_zone(GpuaggVectorStep *step);
extern void gpuagg_vector_choose_compare(GpuaggVectorStep *step);
extern void gpuagg_vector_choose_set(GpuaggVectorStep *step);
extern void gpuagg_vector_choose_like(GpuaggVectorStep *step);
extern void gpuagg_vector_choose_logic(GpuaggVectorStep *step);
extern void gpuagg_vector_choose_choice(GpuaggVectorStep *step);

/* Takes one of the loops, by which operand is constant. */
extern void gpuagg_vector_take_loops(GpuaggVectorStep *step, const GpuaggVectorLoops *loops);

/* a < b of a type, both vectors. */
extern GpuaggVectorCompare gpuagg_vector_less(int type);

/* Sorts the set of an IN whose constants have been filled in. */
extern void gpuagg_vector_sort_set(int type, void *set, int n);

/*
 * A condition on a column of strings that has codes, for the wanted rows; decide() says whether
 * a string meets it.  False: the column has none.
 */
typedef bool (*GpuaggVectorDecide)(const GpuaggVectorStep *step, const GpuaggVectorBytes *string,
								   const void *arg);
extern bool gpuagg_vector_by_code(const GpuaggVectorStep *step, const uint64_t *wanted,
								  uint64_t *out, GpuaggVectorDecide decide, const void *arg);

/* Flags those of 64 rows that count. */
extern void gpuagg_vector_flag(const GpuaggVectorStep *step, int word, uint64_t bits);

VECTOR_INLINE int
gpuagg_vector_words(const GpuaggVectorStep *step)
{
	return (step->runner->nrows + 63) / 64;
}

VECTOR_INLINE uint64_t
gpuagg_vector_valid_word(const GpuaggVector *v, int word)
{
	return v->valid != NULL ? v->valid[word] : UINT64_MAX;
}

/* The rows of a BOOL register that are true. */
VECTOR_INLINE uint64_t
gpuagg_vector_true_word(const GpuaggVector *v, int word)
{
	return ((const uint64_t *) v->values)[word] & gpuagg_vector_valid_word(v, word);
}

/*
 * The result of a strict instruction: its memory, NULL where an operand is; wanted
 * becomes the live rows that are not NULL.
 */
VECTOR_INLINE void
gpuagg_vector_strict(const GpuaggVectorStep *step, uint64_t *wanted)
{
	const uint64_t *live = step->runner->live;
	const uint64_t *av = step->a->valid;
	const uint64_t *bv = step->b != NULL ? step->b->valid : NULL;

	step->out->values = step->values;
	step->out->valid = av == NULL && bv == NULL ? NULL : step->valid;
	if (av == NULL)
	{
		av = bv;
		bv = NULL;
	}
	if (av == NULL)
		memcpy(wanted, live, GPUAGG_VECTOR_WORDS * sizeof(uint64_t));
	else
		for (int w = 0; w < GPUAGG_VECTOR_WORDS; w++)
		{
			step->valid[w] = bv != NULL ? av[w] & bv[w] : av[w];
			wanted[w] = live[w] & step->valid[w];
		}
}

/* Whether of 64 rows at most three are wanted, so that one by one is faster than all of them. */
VECTOR_INLINE bool
gpuagg_vector_few(uint64_t wanted)
{
	wanted &= wanted - 1;
	wanted &= wanted - 1;
	return (wanted & (wanted - 1)) == 0;
}

/* Eight bytes as a number whose lowest is the first. */
VECTOR_INLINE uint64_t
gpuagg_vector_eight(uint64_t v)
{
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
	return __builtin_bswap64(v);
#else
	return v;
#endif
}

/* 64 bytes of 0 or 1 to bits. */
VECTOR_INLINE uint64_t
gpuagg_vector_pack(const uint8_t *bytes)
{
	uint64_t bits = 0;

	for (int i = 0; i < 8; i++)
	{
		uint64_t v;

		memcpy(&v, bytes + 8 * i, 8);
		bits |= gpuagg_vector_eight(v) * UINT64_C(0x0102040810204080) >> 56 << 8 * i;
	}
	return bits;
}

/* Bits to 64 bytes of 0 or 1. */
VECTOR_INLINE void
gpuagg_vector_unpack(uint64_t bits, uint8_t *bytes)
{
	for (int i = 0; i < 8; i++)
	{
		uint64_t v = (bits >> 8 * i & 0xff) * UINT64_C(0x0101010101010101);

		v &= UINT64_C(0x8040201008040201);
		v = gpuagg_vector_eight((v + UINT64_C(0x7f7f7f7f7f7f7f7f)) >> 7 &
								UINT64_C(0x0101010101010101));
		memcpy(bytes + 8 * i, &v, 8);
	}
}

/*
 * The loops NAME_vectors, NAME_b_constant, NAME_a_constant and NAME_flags over an
 * operation
 *
 *		static inline R NAME(A a, B b, BAD *bad, bool exact)
 *
 * which sets the top bit of *bad where the row is to be flagged.  Unless `exact` it may
 * set it for other rows too.  The loop over a word has a fixed number of turns and no
 * aliases, so that compilers turn it into vector instructions at -O2; in the operations
 * they do that with a choice (x ? y : 0), and not with & of two comparisons.
 */
#define VECTOR_TOP(BAD, v) ((v) >> (8 * sizeof(BAD) - 1))
/* A value with that bit; compilers would make shifts of a choice between -1 or a power of 2 and 0. */
#define VECTOR_BAD(BAD) ((BAD) ((BAD) 1 << (8 * sizeof(BAD) - 1) | 1))

#define VECTOR_LOOP(NAME, FORM, A, B, R, BAD, A_STEP, B_STEP)                                      \
	VECTOR_INLINE BAD NAME##_##FORM##_word(const A *restrict a, const B *restrict b,               \
										   R *restrict out)                                        \
	{                                                                                              \
		BAD any = 0;                                                                               \
                                                                                                   \
		for (int i = 0; i < 64; i++)                                                               \
		{                                                                                          \
			BAD bad = 0;                                                                           \
                                                                                                   \
			out[i] = NAME(a[i * A_STEP], b[i * B_STEP], &bad, false);                              \
			any |= bad;                                                                            \
		}                                                                                          \
		return any;                                                                                \
	}                                                                                              \
	VECTOR_INLINE uint64_t NAME##_##FORM##_all(const void *a, const void *b, void *out,            \
											   const uint64_t *wanted, int words)                  \
	{                                                                                              \
		BAD any = 0;                                                                               \
                                                                                                   \
		for (int w = 0; w < words; w++)                                                            \
		{                                                                                          \
			const A *wa = (const A *) a + 64 * w * A_STEP;                                         \
			const B *wb = (const B *) b + 64 * w * B_STEP;                                         \
                                                                                                   \
			if (gpuagg_vector_few(wanted[w]))                                                      \
				for (uint64_t left = wanted[w]; left != 0; left &= left - 1)                       \
				{                                                                                  \
					int i = __builtin_ctzll(left);                                                 \
					BAD bad = 0;                                                                   \
                                                                                                   \
					((R *) out)[64 * w + i] = NAME(wa[i * A_STEP], wb[i * B_STEP], &bad, false);   \
					any |= bad;                                                                    \
				}                                                                                  \
			else                                                                                   \
				any |= NAME##_##FORM##_word(wa, wb, (R *) out + 64 * w);                           \
		}                                                                                          \
		return VECTOR_TOP(BAD, any);                                                               \
	}                                                                                              \
	static uint64_t NAME##_##FORM(const void *a, const void *b, void *out, const uint64_t *wanted, \
								  int words)                                                       \
	{                                                                                              \
		return NAME##_##FORM##_all(a, b, out, wanted, words);                                      \
	}                                                                                              \
	VECTOR_WIDE static uint64_t NAME##_##FORM##_wide(const void *a, const void *b, void *out,      \
													 const uint64_t *wanted, int words)            \
	{                                                                                              \
		return NAME##_##FORM##_all(a, b, out, wanted, words);                                      \
	}

#define VECTOR_FLAGS(NAME, A, B, BAD)                                                    \
	static uint64_t NAME##_flags(const void *a_values, const void *b_values, int b_step) \
	{                                                                                    \
		const A *a = a_values;                                                           \
		const B *b = b_values;                                                           \
		uint64_t flags = 0;                                                              \
                                                                                         \
		for (int i = 0; i < 64; i++)                                                     \
		{                                                                                \
			BAD bad = 0;                                                                 \
                                                                                         \
			(void) NAME(a[i], b[i * b_step], &bad, true);                                \
			flags |= (uint64_t) VECTOR_TOP(BAD, bad) << i;                               \
		}                                                                                \
		return flags;                                                                    \
	}

#define VECTOR_BINARY(NAME, A, B, R, BAD)             \
	VECTOR_LOOP(NAME, vectors, A, B, R, BAD, 1, 1)    \
	VECTOR_LOOP(NAME, b_constant, A, B, R, BAD, 1, 0) \
	VECTOR_LOOP(NAME, a_constant, A, B, R, BAD, 0, 1) \
	VECTOR_FLAGS(NAME, A, B, BAD)

/* Operations that do not look at b. */
#define VECTOR_UNARY(NAME, A, R, BAD)              \
	VECTOR_LOOP(NAME, vectors, A, A, R, BAD, 1, 1) \
	VECTOR_FLAGS(NAME, A, A, BAD)

#define VECTOR_BOTH(NAME) \
	{                     \
		NAME, NAME##_wide \
	}
#define VECTOR_BINARY_LOOPS(NAME)                                    \
	{                                                                \
		VECTOR_BOTH(NAME##_vectors), VECTOR_BOTH(NAME##_b_constant), \
			VECTOR_BOTH(NAME##_a_constant), NAME##_flags             \
	}
#define VECTOR_UNARY_LOOPS(NAME)                                              \
	{                                                                         \
		VECTOR_BOTH(NAME##_vectors), {NULL, NULL}, {NULL, NULL}, NAME##_flags \
	}

#endif /* GPUAGG_VECTOR_STEP_H */
