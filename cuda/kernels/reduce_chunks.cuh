/*
 * reduce_chunks.cuh
 *	  Exact sums of floats as a block keeps them: the words of a GpuaggReduced.
 *
 * Words are added up one by one: counts, chunks, and chunks of squares
 * (float_sum.h).  A block's words are in shared memory, each as two halves: a
 * multiprocessor adds to 32-bit words in one step, to 64-bit words by
 * compare-and-swap loops.  A deposit adds less than 2^32 to any chunk.
 */
#ifndef GPUAGG_REDUCE_CHUNKS_CUH
#define GPUAGG_REDUCE_CHUNKS_CUH

#include "kernels/float_bits.cuh"
#include "kernels/reduce.cuh"

#define WORD_VALID	 RESULT_WORD(f.counts.n)
#define WORD_NAN	 RESULT_WORD(f.counts.n_nan)
#define WORD_PINF	 RESULT_WORD(f.counts.n_pinf)
#define WORD_NINF	 RESULT_WORD(f.counts.n_ninf)
#define WORD_NEGZERO RESULT_WORD(f.counts.n_negzero)
#define WORD_CHUNK	 RESULT_WORD(f.chunk)
#define WORD_SQUARE	 RESULT_WORD(f_squares)

static_assert(WORD_SQUARE == WORD_CHUNK + GPUAGG_CHUNKS &&
				  RESULT_WORDS == WORD_SQUARE + GPUAGG_SQUARE_CHUNKS,
			  "chunks are the last words");

/* An int64 modulo 2^64. */
struct SplitWord
{
	uint32_t low;
	uint32_t high;
};

static __device__ __forceinline__ int64_t
split_value(const SplitWord &word)
{
	return (int64_t) ((uint64_t) word.high << 32 | word.low);
}

static __device__ __forceinline__ SplitWord
split_word(int64_t value)
{
	SplitWord word = {(uint32_t) value, (uint32_t) ((uint64_t) value >> 32)};

	return word;
}

/*
 * Adds to a word that other threads of the block also add to.  The addition that
 * wraps the low half carries to the high half, so the order does not matter; the
 * sum is complete after the next barrier.
 */
static __device__ __forceinline__ void
split_add(SplitWord *word, int64_t value)
{
	uint32_t low = (uint32_t) value;
	uint32_t high = (uint32_t) ((uint64_t) value >> 32);
	uint32_t old = atomic_add(&word->low, low);

	high += (uint32_t) (old + low) < low;
	if (high != 0)
		(void) atomic_add(&word->high, high);
}

/* Adds (-1)^negative * magnitude * 2^place, in units of bit 0 of the first chunk. */
static __device__ __forceinline__ void
chunks_deposit(SplitWord *chunk, int place, uint64_t magnitude, bool negative)
{
	int shift = place % 32;
	uint64_t low = magnitude << shift;
	int64_t third = (int64_t) (shift > 0 ? magnitude >> (64 - shift) : 0);
	int64_t first = (int64_t) (uint32_t) low;
	int64_t second = (int64_t) (low >> 32);

	chunk += place / 32;
	split_add(&chunk[0], negative ? -first : first);
	split_add(&chunk[1], negative ? -second : second);
	if (third != 0)
		split_add(&chunk[2], negative ? -third : third);
}

/* Adds a finite double; `units` is the place of 2^-1074 in the chunks. */
static __device__ __forceinline__ void
chunks_deposit_double(SplitWord *chunk, double x, int units)
{
	Decoded d = decode(bits_of(x));

	chunks_deposit(chunk, d.place + units, d.mantissa, d.negative);
}

/* Adds the square of a finite double to chunks whose bit 0 weighs 2^-2148. */
static __device__ __forceinline__ void
chunks_deposit_square(SplitWord *chunk, double x)
{
	Decoded d = decode(bits_of(x));
	unsigned __int128 square = (unsigned __int128) d.mantissa * d.mantissa;

	chunks_deposit(chunk, 2 * d.place, (uint64_t) square, false);
	chunks_deposit(chunk, 2 * d.place + 64, (uint64_t) (square >> 64), false);
}

#define CHUNKS_HELD	  5
#define CHUNKS_MISSES 16 /* values that do not fit before the place is chosen again */

/* A few chunks that a thread holds in registers, around the exponents of its values. */
struct HeldChunks
{
	int base; /* chunk number of held[0]; chunks base .. base + 4 exist */
	int misses;
	int64_t held[CHUNKS_HELD];

	/* Places the chunks so that `first` and its neighbours can be added. */
	__device__ __forceinline__ void start(int first)
	{
		base = first > 0 ? first - 1 : 0;
		misses = 0;
		UNROLL
		for (int i = 0; i < CHUNKS_HELD; i++)
			held[i] = 0;
	}

	/* Adds what is held to the block's chunks. */
	__device__ __forceinline__ void flush(SplitWord *chunk) const
	{
		UNROLL
		for (int i = 0; i < CHUNKS_HELD; i++)
			if (held[i] != 0)
				split_add(&chunk[base + i], held[i]);
	}

	/* Adds one finite value. */
	__device__ __forceinline__ void deposit(uint64_t bits, SplitWord *chunk)
	{
		Decoded d = decode(bits);
		int first = d.place / 32; /* 0 to 63 */
		int at = first - base;
		int shift = d.place % 32;
		uint64_t low = d.mantissa << shift;
		int64_t piece[3];

		piece[0] = (int64_t) (uint32_t) low;
		piece[1] = (int64_t) (low >> 32);
		piece[2] = (int64_t) (shift > 0 ? d.mantissa >> (64 - shift) : 0);
		if (at >= 0 && at <= CHUNKS_HELD - 3)
		{
			UNROLL
			for (int k = 0; k < 3; k++)
			{
				int64_t signed_piece = d.negative ? -piece[k] : piece[k];

				UNROLL
				for (int i = k; i <= CHUNKS_HELD - 3 + k; i++)
					held[i] += at == i - k ? signed_piece : 0;
			}
		}
		else if (d.mantissa != 0)
		{
			chunks_deposit(chunk, d.place, d.mantissa, d.negative);
			if (++misses >= CHUNKS_MISSES)
			{
				flush(chunk);
				start(first);
			}
		}
	}
};

/* Counts values that are not finite; all lanes of the warp call, `is`: the lane has one. */
static __device__ __forceinline__ void
count_nonfinite(SplitWord *word, bool is, uint64_t bits)
{
	unsigned all = __ballot_sync(FULL_MASK, is);
	unsigned nan = __ballot_sync(FULL_MASK, is && bits_nan(bits));
	unsigned negative = __ballot_sync(FULL_MASK, bits >> 63 != 0);

	if (lane_id() == 0)
	{
		split_add(&word[WORD_NAN], bit_count(nan));
		split_add(&word[WORD_PINF], bit_count(all & ~nan & ~negative));
		split_add(&word[WORD_NINF], bit_count(all & ~nan & negative));
	}
}

static __device__ __forceinline__ void
count_negative_zeros(SplitWord *word, bool is)
{
	unsigned all = __ballot_sync(FULL_MASK, is);

	if (lane_id() == 0 && all != 0)
		split_add(&word[WORD_NEGZERO], bit_count(all));
}

#define WORD_WARPS (RESULT_WORDS / WARP_SIZE + 1)

/* A block's words, and room for carries. */
struct WordStorage
{
	SplitWord word[RESULT_WORDS];
	int64_t carry[RESULT_WORDS + 1];
	uint32_t negative[WORD_WARPS];
	uint32_t nonzero[WORD_WARPS];
};

/* Whether a word is a chunk; whether it is the top chunk of its sum. */
static __device__ __forceinline__ bool
word_is_chunk(int i)
{
	return i >= WORD_CHUNK && i < RESULT_WORDS;
}

static __device__ __forceinline__ bool
word_is_top(int i)
{
	return i == WORD_SQUARE - 1 || i == RESULT_WORDS - 1;
}

/* What a chunk leaves to the next one, if a digit in [-2^31, 2^31) stays. */
static __device__ __forceinline__ int64_t
chunk_carry(int64_t chunk)
{
	return (chunk - (int64_t) (int32_t) (uint32_t) chunk) >> 32;
}

/* Word i of a block with carries taken once: a chunk that is no top one is of magnitude 2^32 at most. */
static __device__ __forceinline__ int64_t
carried_word(const SplitWord *word, int i)
{
	int64_t value = split_value(word[i]);

	if (!word_is_chunk(i))
		return value;
	if (!word_is_top(i))
		value = (int64_t) (int32_t) (uint32_t) value;
	if (i != WORD_CHUNK && i != WORD_SQUARE)
		value += chunk_carry(split_value(word[i - 1]));
	return value;
}

/*
 * Carries once, from each chunk to the next; a thread has a word.  True in every
 * thread when there was anything to carry.
 */
static __device__ __forceinline__ bool
carry_words(int64_t &word, WordStorage &shared)
{
	int i = (int) threadIdx.x;
	int64_t carry = 0;
	bool any;

	if (word_is_chunk(i) && !word_is_top(i))
		carry = chunk_carry(word);
	if (i < RESULT_WORDS)
		shared.carry[i + 1] = carry;
	any = __syncthreads_or(carry != 0);
	word -= (int64_t) ((uint64_t) carry << 32);
	if (i > 0 && i < RESULT_WORDS)
		word += shared.carry[i];
	__syncthreads();
	return any;
}

/* As carry_words, for the block's words; no thread adds to them meanwhile. */
static __device__ __forceinline__ void
carry_block(WordStorage &shared)
{
	int i = (int) threadIdx.x;
	int64_t word = 0;

	__syncthreads();
	if (i < RESULT_WORDS)
		word = split_value(shared.word[i]);
	(void) carry_words(word, shared);
	if (i < RESULT_WORDS)
		shared.word[i] = split_word(word);
	__syncthreads();
}

/*
 * The thread's word with carries propagated: chunks below the top one are in
 * [0, 2^32).
 *
 * After the first round carries are -1, 0 or 1, and a third round is rare.  Then
 * a chunk must lend 1 to those below it if the highest of these that is not 0 is
 * negative.
 */
static __device__ __forceinline__ int64_t
propagate_words(int64_t word, WordStorage &shared)
{
	int i = (int) threadIdx.x;
	int first = i < WORD_SQUARE ? WORD_CHUNK : WORD_SQUARE;
	unsigned nonzero;
	unsigned negative;
	unsigned found = 0;
	int w = warp_id();

	while (carry_words(word, shared))
		;
	nonzero = __ballot_sync(FULL_MASK, word_is_chunk(i) && word != 0);
	negative = __ballot_sync(FULL_MASK, word_is_chunk(i) && word < 0);
	if (lane_id() == 0 && w < WORD_WARPS)
	{
		shared.nonzero[w] = nonzero;
		shared.negative[w] = negative;
	}
	__syncthreads();

	nonzero &= (UINT32_C(1) << lane_id()) - 1;
	for (;;)
	{
		if (w == first / WARP_SIZE)
			nonzero &= ~((UINT32_C(1) << first % WARP_SIZE) - 1);
		if (nonzero != 0 || w <= first / WARP_SIZE)
			break;
		w--;
		nonzero = shared.nonzero[w];
	}
	if (nonzero != 0)
		found = shared.negative[w] >> (bit_length(nonzero) - 1) & 1;
	if (word_is_chunk(i))
	{
		word -= found;
		if (!word_is_top(i))
			word = (int64_t) (uint32_t) word;
	}
	return word;
}

/*
 * The same for the N chunks of one sum, by a warp that nobody disturbs: a lane has a few chunks that follow
 * each other.
 */
template <int N>
static __device__ __forceinline__ void
propagate_chunks(SplitWord *chunk)
{
	constexpr int EACH = (N + WARP_SIZE - 1) / WARP_SIZE;
	int first = lane_id() * EACH;
	int64_t v[EACH];
	bool is_nonzero = false;
	bool is_negative = false;
	unsigned below;
	unsigned negative;
	int64_t from;

	UNROLL
	for (int i = 0; i < EACH; i++)
		v[i] = first + i < N ? split_value(chunk[first + i]) : 0;
	do
	{
		int64_t carry = 0;

		UNROLL
		for (int i = 0; i < EACH; i++)
		{
			v[i] += carry;
			carry = first + i < N - 1 ? chunk_carry(v[i]) : 0;
			v[i] -= (int64_t) ((uint64_t) carry << 32);
		}
		from = warp_shfl_up(carry, 1);
		if (lane_id() == 0)
			from = 0;
		v[0] += from;
	} while (__any_sync(FULL_MASK, from != 0));

	UNROLL
	for (int i = 0; i < EACH; i++)
		if (v[i] != 0)
		{
			is_nonzero = true;
			is_negative = v[i] < 0;
		}
	below = __ballot_sync(FULL_MASK, is_nonzero) & ((UINT32_C(1) << lane_id()) - 1);
	negative = __ballot_sync(FULL_MASK, is_negative);
	is_negative = below != 0 && (negative >> (bit_length(below) - 1) & 1) != 0;
	UNROLL
	for (int i = 0; i < EACH; i++)
	{
		int64_t value = v[i] - is_negative;

		if (v[i] != 0)
			is_negative = v[i] < 0;
		if (first + i < N)
			chunk[first + i] = split_word(first + i < N - 1 ? (int64_t) (uint32_t) value : value);
	}
	__syncwarp(FULL_MASK);
}

#endif /* GPUAGG_REDUCE_CHUNKS_CUH */
