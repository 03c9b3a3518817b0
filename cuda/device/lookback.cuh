/*
 * lookback.cuh
 *	  How the tiles of a single-pass scan learn their prefixes: the combination
 *	  of all rows before a tile.
 *
 * Tiles are numbered in row order and handed out by a ticket.  The block that has
 * a tile publishes the tile's own aggregate, nothing else, and never waits before
 * it has.  The prefix of its next tile is the last prefix, the last tile, and the
 * aggregates of all tiles between, which it gathers at once.  So there is no chain
 * of tiles that wait for prefixes.
 *
 * Blocks need not be resident together.  Let t be the first tile without an
 * aggregate.  If its ticket has been taken, its block runs; blocks take tickets,
 * publish and gather in ascending order, so before it publishes t it gathers only
 * tiles before t and does not wait.  If the ticket has not been taken, no later
 * one has; the running blocks wait only for tiles before t, so one takes it.
 *
 * Scratch is a header and words of 16 bytes, each accessed as one: 12 bytes of
 * payload and a tag of 4.  In memory the tag is xor-ed with the payload, so that
 * a look at it uses the whole word: of a 16-byte load with unused parts ptxas
 * (13.0) makes smaller ones, which may see different stores.  Another tag than that
 * of this launch means 'not yet'; cleared words have tag 0.  The tag grows by one
 * each launch.  The last block to end sets the tag and clears the header, and all
 * words when the tags are used up.  So scratch that was cleared when allocated
 * serves any sequence of launches of any operator.
 *
 * Op has `State`, identity() and combine(a, b) as in warp.cuh, and `Packed`,
 * pack(State), unpack(Packed): a tile's aggregate as it is published.  State and
 * Packed are whole 32-bit words.
 */
#ifndef GPUAGG_LOOKBACK_CUH
#define GPUAGG_LOOKBACK_CUH

#include "device/block.cuh"

#define LOOKBACK_PAYLOAD	 12 /* bytes of a word */
#define LOOKBACK_CARRY_WORDS 8	/* the state carried in, before tile 0 */
#define LOOKBACK_REPORTS	 2

struct alignas(128) LookBackHeader
{
	uint32_t ticket;
	uint32_t tag;	/* of the latest launch */
	uint32_t ended; /* blocks of this launch */
	uint32_t report[LOOKBACK_REPORTS];
	uint32_t unused;
	uint64_t used; /* words that any launch since the words were cleared may have written */
};

static GPUAGG_HD constexpr size_t
lookback_words(size_t bytes)
{
	return (bytes + LOOKBACK_PAYLOAD - 1) / LOOKBACK_PAYLOAD;
}

/* Scratch for so many tiles whose Packed has so many bytes. */
static inline size_t
lookback_scratch(uint64_t tiles, size_t packed)
{
	return sizeof(LookBackHeader) +
		   (LOOKBACK_CARRY_WORDS + tiles * lookback_words(packed)) * sizeof(Quad);
}

static __device__ __forceinline__ uint32_t
lookback_mix(const Quad &word)
{
	return word.word[0] ^ word.word[1] ^ word.word[2];
}

template <class T>
static __device__ __forceinline__ void
lookback_store(Quad *words, uint32_t tag, const T &value)
{
	constexpr size_t WORDS = lookback_words(sizeof(T));
	uint32_t payload[3 * WORDS] = {};

	memcpy(payload, &value, sizeof(T));
	UNROLL
	for (size_t i = 0; i < WORDS; i++)
	{
		Quad word = {{payload[3 * i], payload[3 * i + 1], payload[3 * i + 2], 0}};

		word.word[3] = tag ^ lookback_mix(word);

		store_relaxed(&words[i], word);
	}
}

/* The words of a value; some may not have been published yet. */
template <class T> struct LookBackWords
{
	Quad word[lookback_words(sizeof(T))];

	__device__ __forceinline__ void load(const Quad *words)
	{
		UNROLL
		for (size_t i = 0; i < lookback_words(sizeof(T)); i++)
			word[i] = load_relaxed(&words[i]);
	}

	__device__ __forceinline__ bool missing(uint32_t tag) const
	{
		bool missing = false;

		UNROLL
		for (size_t i = 0; i < lookback_words(sizeof(T)); i++)
			missing |= (word[i].word[3] ^ lookback_mix(word[i])) != tag;
		return missing;
	}

	/* The value; waits for all its words. */
	__device__ __forceinline__ T wait(const Quad *words, uint32_t tag)
	{
		uint32_t payload[3 * lookback_words(sizeof(T))];
		T value;

		while (missing(tag))
		{
			spin_wait();
			load(words);
		}
		UNROLL
		for (size_t i = 0; i < lookback_words(sizeof(T)); i++)
		{
			payload[3 * i] = word[i].word[0];
			payload[3 * i + 1] = word[i].word[1];
			payload[3 * i + 2] = word[i].word[2];
		}
		memcpy(&value, payload, sizeof(T));
		return value;
	}
};

template <class Op> struct LookBack
{
	typedef typename Op::State State;
	typedef typename Op::Packed Packed;

	static constexpr size_t WORDS = lookback_words(sizeof(Packed));

	static_assert(sizeof(State) % 4 == 0 && sizeof(Packed) % 4 == 0, "whole 32-bit words");
	static_assert(lookback_words(sizeof(State)) <= LOOKBACK_CARRY_WORDS, "a carry is one State");

	LookBackHeader *header;
	Quad *words;
	uint32_t tag;

	/* Any thread; the tag does not change before this block has called close(). */
	__device__ __forceinline__ explicit LookBack(void *scratch)
	{
		header = (LookBackHeader *) scratch;
		words = (Quad *) (header + 1);
		tag = load_relaxed(&header->tag) + 1;
	}

	/* One thread: the number of the next tile, beyond the last one if there are no more. */
	__device__ __forceinline__ uint64_t take() const
	{
		return atomic_add(&header->ticket, (uint32_t) 1);
	}

	/* One thread of the block that has tile 0, when a state is carried in. */
	__device__ __forceinline__ void publish_carry(State state) const
	{
		lookback_store(words, tag, state);
	}

	/* One thread of the block that has the tile. */
	__device__ __forceinline__ void publish(uint64_t tile, State aggregate) const
	{
		lookback_store((Quad *) slot(tile), tag, Op::pack(aggregate));
	}

	__device__ __forceinline__ State carry() const
	{
		LookBackWords<State> found;

		found.load(words);
		return found.wait(words, tag);
	}

	__device__ __forceinline__ const Quad *slot(uint64_t tile) const
	{
		return words + LOOKBACK_CARRY_WORDS + tile * WORDS;
	}

	/*
	 * A thread's share of the tiles first .. end - 1, combined; shares are in
	 * thread order.  With ONE_FIRST the first tile, the likeliest to have been
	 * published, is read alone, then the others, AT_ONCE at a time.
	 */
	template <int THREADS, int AT_ONCE = 3, bool ONE_FIRST = true>
	__device__ __forceinline__ State share(uint64_t first, uint64_t end,
										   int thread = (int) threadIdx.x) const
	{
		uint64_t each = divide_up(end - first, THREADS);
		uint64_t tile = first + (unsigned) thread * each;
		State state = Op::identity();

		if (end > tile + each)
			end = tile + each;
		if (ONE_FIRST && tile < end)
		{
			LookBackWords<Packed> one;

			one.load(slot(tile));
			state = Op::unpack(one.wait(slot(tile), tag));
			tile++;
		}
		for (; tile < end; tile += AT_ONCE)
		{
			LookBackWords<Packed> found[AT_ONCE];

			UNROLL
			for (int i = 0; i < AT_ONCE; i++)
				if (tile + (unsigned) i < end)
					found[i].load(slot(tile + (unsigned) i));
			UNROLL
			for (int i = 0; i < AT_ONCE; i++)
				if (tile + (unsigned) i < end)
					state = Op::combine(state,
										Op::unpack(found[i].wait(slot(tile + (unsigned) i), tag)));
		}
		return state;
	}

	/* One thread of every block, before close(), when it has something to report. */
	__device__ __forceinline__ void report(int number) const
	{
		atomic_add(&header->report[number], (uint32_t) 1);
	}

	/*
	 * One thread of every block, after the block's last access to scratch.  True
	 * in the last block: reports[] says whether any block has reported.
	 */
	__device__ inline bool close(uint64_t tiles, bool (&reports)[LOOKBACK_REPORTS]) const
	{
		uint64_t used = LOOKBACK_CARRY_WORDS + tiles * WORDS;
		bool last;

		__threadfence();
		last = atomic_add(&header->ended, (uint32_t) 1) == gridDim.x - 1;
		__threadfence();
		if (!last)
			return false;

		for (int i = 0; i < LOOKBACK_REPORTS; i++)
		{
			reports[i] = load_relaxed(&header->report[i]) != 0;
			store_relaxed(&header->report[i], (uint32_t) 0);
		}
		if (used < load_relaxed(&header->used))
			used = load_relaxed(&header->used);
		if (tag == UINT32_MAX)
		{
			Quad none = {};

			for (uint64_t i = 0; i < used; i++)
				store_relaxed(&words[i], none);
			used = 0;
		}
		store_relaxed(&header->used, used);
		store_relaxed(&header->tag, tag == UINT32_MAX ? 0 : tag);
		store_relaxed(&header->ticket, (uint32_t) 0);
		store_relaxed(&header->ended, (uint32_t) 0);
		return true;
	}
};

#endif /* GPUAGG_LOOKBACK_CUH */
