/*
 * window.cu
 *	  Rows of a query in the order of keys: measured, packed, gathered.
 *
 * Rows are packed by tiles of places: measure counts those of each tile, and its last block adds the
 * counts up.
 */
#include "device/grid.cuh"
#include "kernels/window.h"

#define THREADS	   256
#define WARPS	   (THREADS / WARP_SIZE)
#define TILE	   4096 /* places */
#define TILE_WORDS (TILE / 32)
#define WARP_WORDS (TILE_WORDS / WARPS)
#define MAX_BLOCKS 1024 /* of measure */

/* What has been seen of a key's words. */
struct KeySeen
{
	uint64_t least;
	uint64_t greatest;
	uint64_t all; /* bits that all have; */
	uint64_t any; /* that any has */
	uint32_t has_values;
	uint32_t has_nulls;

	__device__ __forceinline__ void clear()
	{
		*this = {UINT64_MAX, 0, UINT64_MAX, 0, 0, 0};
	}

	__device__ __forceinline__ void take(const KeySeen &other)
	{
		least = other.least < least ? other.least : least;
		greatest = other.greatest > greatest ? other.greatest : greatest;
		all &= other.all;
		any |= other.any;
		has_values |= other.has_values;
		has_nulls |= other.has_nulls;
	}

	__device__ __forceinline__ KeySeen of_lane(int bit) const
	{
		return {warp_shfl_xor(least, bit),		warp_shfl_xor(greatest, bit),
				warp_shfl_xor(all, bit),		warp_shfl_xor(any, bit),
				warp_shfl_xor(has_values, bit), warp_shfl_xor(has_nulls, bit)};
	}
};

struct ExtentSeen
{
	int32_t low;
	int32_t high;

	__device__ __forceinline__ void clear()
	{
		*this = {INT32_MAX, 0};
	}

	__device__ __forceinline__ void take(const ExtentSeen &other)
	{
		low = other.low < low ? other.low : low;
		high = other.high > high ? other.high : high;
	}

	__device__ __forceinline__ ExtentSeen of_lane(int bit) const
	{
		return {warp_shfl_xor(low, bit), warp_shfl_xor(high, bit)};
	}
};

struct WindowScratch
{
	uint32_t ticket;
	uint32_t unused[15];
	KeySeen key[GPUAGG_WINDOW_KEYS][MAX_BLOCKS];
	ExtentSeen extent[GPUAGG_WINDOW_VALUES][MAX_BLOCKS];
	uint64_t tile[1]; /* rows of each; then rows of those before it */
};

struct WindowKeys
{
	uint32_t nkeys;
	GpuaggWindowKey key[GPUAGG_WINDOW_KEYS];
};

/* What all threads of a block have seen, in thread 0. */
template <class Seen>
static __device__ __forceinline__ Seen
block_seen(Seen seen, Seen (&of_warp)[WARPS])
{
	for (int bit = WARP_SIZE / 2; bit > 0; bit /= 2)
		seen.take(seen.of_lane(bit));
	__syncthreads();
	if (lane_id() == 0)
		of_warp[warp_id()] = seen;
	__syncthreads();
	for (int w = 0; w < WARPS; w++)
		seen.take(of_warp[w]);
	return seen;
}

/* A number of 4 or 8 bytes, with its sign; of floats their bits. */
static __device__ __forceinline__ uint64_t
load_value(const GpuWindowValue &value, uint64_t place)
{
	if (value.bytes == 8)
		return ((const uint64_t *) value.values)[place];
	return value.is_float ? (uint64_t) ((const uint32_t *) value.values)[place]
						  : (uint64_t) (int64_t) ((const int32_t *) value.values)[place];
}

/* The word of a value. */
static __device__ __forceinline__ uint64_t
key_word(const GpuWindowValue &value, uint64_t place)
{
	uint64_t bits = load_value(value, place);

	if (!value.is_float)
		return gpuagg_key_word((int64_t) bits);
	return value.bytes == 8 ? gpuagg_key_word_float64(bits)
							: gpuagg_key_word_float32((uint32_t) bits);
}

/* Widens an extent by a value. */
static __device__ __forceinline__ void
take_extent(ExtentSeen &seen, const GpuWindowValue &value, uint64_t place)
{
	uint64_t bits = load_value(value, place);
	int unused = 0; /* low bits that are always 0 */
	int bit;

	if (value.bytes == 4)
	{
		uint32_t half = (uint32_t) bits;
		float single;

		memcpy(&single, &half, sizeof(single));
		double wide = (double) single;
		memcpy(&bits, &wide, sizeof(bits));
		unused = 29;
	}
	if ((bits >> 52 & 0x7ff) == 0x7ff || bits << 1 == 0)
		return;
	bit = gpuagg_float_sum_bit(bits);
	seen.take({bit + unused, bit + 53});
}

/* Calls f(place, valid) for each row of this block's tiles. */
template <class F>
static __device__ __forceinline__ void
for_each_row(const GpuWindowRows &rows, const uint32_t *valid, F f)
{
	uint64_t nwords = rows.places / 32;

	for (uint64_t first = (uint64_t) blockIdx.x * TILE_WORDS; first < nwords;
		 first += (uint64_t) gridDim.x * TILE_WORDS)
	{
		for (int i = 0; i < WARP_WORDS; i++)
		{
			uint64_t at = first + (uint64_t) (warp_id() * WARP_WORDS + i);

			if (at < nwords && (rows.rows[at] >> lane_id() & 1) != 0)
				f(at * 32 + (uint64_t) lane_id(), (valid[at] >> lane_id() & 1) != 0);
		}
	}
}

static __device__ __forceinline__ void
count_tiles(const GpuWindowRows &rows, WindowScratch *scratch, uint64_t ntiles,
			uint32_t (&of_warp)[WARPS])
{
	uint64_t nwords = rows.places / 32;

	for (uint64_t tile = blockIdx.x; tile < ntiles; tile += gridDim.x)
	{
		uint64_t at = tile * TILE_WORDS + threadIdx.x;
		uint32_t n = threadIdx.x < TILE_WORDS && at < nwords ? (uint32_t) bit_count(rows.rows[at])
															 : 0;
		uint64_t all = 0;

		n = warp_reduce_add(n);
		__syncthreads();
		if (lane_id() == 0)
			of_warp[warp_id()] = n;
		__syncthreads();
		for (int w = 0; w < WARPS; w++)
			all += of_warp[w];
		if (threadIdx.x == 0)
			scratch->tile[tile] = all;
	}
}

/* Sums of the tiles before each, by one block; returns that of all. */
static __device__ __forceinline__ uint64_t
add_tiles_up(WindowScratch *scratch, uint64_t ntiles, uint64_t (&of_thread)[THREADS])
{
	uint64_t first = ntiles * threadIdx.x / THREADS;
	uint64_t end = ntiles * (threadIdx.x + 1) / THREADS;
	uint64_t own = 0;
	uint64_t before = 0;
	uint64_t all = 0;

	for (uint64_t tile = first; tile < end; tile++)
		own += scratch->tile[tile];
	of_thread[threadIdx.x] = own;
	__syncthreads();
	for (unsigned t = 0; t < THREADS; t++)
	{
		before += t < threadIdx.x ? of_thread[t] : 0;
		all += of_thread[t];
	}
	for (uint64_t tile = first; tile < end; tile++)
	{
		uint64_t n = scratch->tile[tile];

		scratch->tile[tile] = before;
		before += n;
	}
	return all;
}

struct MeasureShared
{
	union
	{
		KeySeen key[WARPS];
		ExtentSeen extent[WARPS];
		uint32_t count[WARPS];
		uint64_t thread[THREADS];
	};
};

/* The last block: what all have seen. */
static __device__ __forceinline__ void
deliver_measure(const GpuWindowRows &rows, const WindowKeys &keys, uint32_t summed, uint64_t ntiles,
				WindowScratch *scratch, GpuWindowMeasure *measure, MeasureShared &shared)
{
	for (uint32_t k = 0; k < keys.nkeys; k++)
	{
		KeySeen seen;

		seen.clear();
		for (unsigned b = threadIdx.x; b < gridDim.x; b += THREADS)
			seen.take(scratch->key[k][b]);
		seen = block_seen(seen, shared.key);
		if (threadIdx.x == 0)
			measure->key[k] = {seen.least, seen.greatest, seen.any & ~seen.all,
							   seen.has_values != 0, seen.has_nulls != 0};
	}
	for (uint32_t i = 0; i < rows.nvalues; i++)
	{
		ExtentSeen seen;

		if ((summed >> i & 1) == 0)
			continue;
		seen.clear();
		for (unsigned b = threadIdx.x; b < gridDim.x; b += THREADS)
			seen.take(scratch->extent[i][b]);
		seen = block_seen(seen, shared.extent);
		if (threadIdx.x == 0)
			measure->extent[i] = {seen.low, seen.high};
	}
	__syncthreads();
	uint64_t nrows = add_tiles_up(scratch, ntiles, shared.thread);
	if (threadIdx.x == 0)
		measure->nrows = nrows;
}

static __global__ void
__launch_bounds__(THREADS)
	measure_rows(const GRID_CONSTANT GpuWindowRows rows, const GRID_CONSTANT WindowKeys keys,
				 uint32_t summed, uint64_t ntiles, WindowScratch *scratch,
				 GpuWindowMeasure *measure)
{
	SHARED(MeasureShared, shared);

	count_tiles(rows, scratch, ntiles, shared.count);
	for (uint32_t k = 0; k < keys.nkeys; k++)
	{
		const GpuWindowValue &value = rows.value[keys.key[k].value];
		KeySeen seen;

		seen.clear();
		for_each_row(rows, value.valid, [&](uint64_t place, bool valid) {
			if (valid)
			{
				uint64_t word = key_word(value, place);

				seen.take({word, word, word, word, 1, 0});
			}
			else
				seen.has_nulls = 1;
		});
		seen = block_seen(seen, shared.key);
		if (threadIdx.x == 0)
			scratch->key[k][blockIdx.x] = seen;
	}
	for (uint32_t i = 0; i < rows.nvalues; i++)
	{
		const GpuWindowValue &value = rows.value[i];
		ExtentSeen seen;

		if ((summed >> i & 1) == 0)
			continue;
		seen.clear();
		for_each_row(rows, value.valid, [&](uint64_t place, bool valid) {
			if (valid)
				take_extent(seen, value, place);
		});
		seen = block_seen(seen, shared.extent);
		if (threadIdx.x == 0)
			scratch->extent[i][blockIdx.x] = seen;
	}
	if (last_block(&scratch->ticket))
		deliver_measure(rows, keys, summed, ntiles, scratch, measure, shared);
}

size_t
gpu_window_scratch(uint64_t places)
{
	return offsetof(WindowScratch, tile) + (divide_up(places, TILE) + 1) * sizeof(uint64_t);
}

static WindowKeys
keys_of(const GpuaggWindowKey *keys, uint32_t nkeys)
{
	WindowKeys of = {};

	of.nkeys = nkeys;
	for (uint32_t k = 0; k < nkeys; k++)
		of.key[k] = keys[k];
	return of;
}

GpuaggReason
gpu_window_measure(const GpuWindowRows *rows, const GpuaggWindowKey *keys, uint32_t nkeys,
				   uint32_t summed, GpuWindowMeasure *measure, void *scratch, GpuStreamRef stream)
{
	uint64_t ntiles = divide_up(rows->places, TILE);
	unsigned blocks = ntiles == 0 ? 1 : ntiles < MAX_BLOCKS ? (unsigned) ntiles : MAX_BLOCKS;

	if (nkeys > GPUAGG_WINDOW_KEYS || rows->nvalues > GPUAGG_WINDOW_VALUES ||
		rows->places > GPUAGG_WINDOW_PLACES)
		return GPUAGG_REFUSED;
	LAUNCH(measure_rows, blocks, THREADS, stream, *rows, keys_of(keys, nkeys), summed, ntiles,
		   (WindowScratch *) scratch, measure);
	return gpu_launch_status();
}

/* ---- items ---- */

struct WindowLayout
{
	GpuaggKeyLayout key[GPUAGG_WINDOW_KEYS];
};

struct PackShared
{
	uint32_t before[TILE_WORDS]; /* rows of the tile's words before each */
	uint32_t of_warp[WARPS];
};

/* Sets shared.before. */
static __device__ __forceinline__ void
add_words_up(PackShared &shared, uint32_t word)
{
	uint32_t n = threadIdx.x < TILE_WORDS ? (uint32_t) bit_count(word) : 0;
	uint32_t sum = n;

	for (int bit = 1; bit < WARP_SIZE; bit *= 2)
	{
		uint32_t other = warp_shfl_up(sum, bit);

		sum += lane_id() >= bit ? other : 0;
	}
	if (lane_id() == WARP_SIZE - 1)
		shared.of_warp[warp_id()] = sum;
	__syncthreads();
	for (int w = 0; w < warp_id(); w++)
		sum += shared.of_warp[w];
	if (threadIdx.x < TILE_WORDS)
		shared.before[threadIdx.x] = sum - n;
	__syncthreads();
}

template <int WORDS>
static __global__ void
__launch_bounds__(THREADS)
	pack_rows(const GRID_CONSTANT GpuWindowRows rows, const GRID_CONSTANT WindowKeys keys,
			  const GRID_CONSTANT WindowLayout layout, const WindowScratch *scratch,
			  uint64_t *items)
{
	typedef unsigned __int128 Number;

	SHARED(PackShared, shared);
	uint64_t nwords = rows.places / 32;
	uint64_t first = (uint64_t) blockIdx.x * TILE_WORDS;
	uint64_t own = first + threadIdx.x;
	uint64_t before = scratch->tile[blockIdx.x];

	add_words_up(shared, threadIdx.x < TILE_WORDS && own < nwords ? rows.rows[own] : 0);
	for (int i = 0; i < WARP_WORDS; i++)
	{
		int w = warp_id() * WARP_WORDS + i;
		uint64_t at = first + (uint64_t) w;
		uint32_t word = at < nwords ? rows.rows[at] : 0;
		uint64_t place = at * 32 + (uint64_t) lane_id();
		Number number = 0;
		uint64_t *item;

		if ((word >> lane_id() & 1) == 0)
			continue;
		for (uint32_t k = 0; k < keys.nkeys; k++)
		{
			const GpuWindowValue &value = rows.value[keys.key[k].value];
			const GpuaggKeyLayout &key = layout.key[k];
			bool isnull = (value.valid[at] >> lane_id() & 1) == 0;
			uint64_t packed = gpuagg_key_packed(&key, isnull, key_word(value, place));

			if (key.bits > 0)
				number |= (Number) packed << key.position;
			if (key.null_bit && isnull != key.nulls_first)
				number |= (Number) 1 << (key.position + key.bits);
		}
		item = items + (before + shared.before[w] +
						(uint64_t) bit_count(word & ((UINT32_C(1) << lane_id()) - 1))) *
						   (WORDS + 1);
		if constexpr (WORDS == 2)
			item[0] = (uint64_t) (number >> 64);
		item[WORDS - 1] = (uint64_t) number;
		item[WORDS] = place;
	}
}

GpuaggReason
gpu_window_pack(const GpuWindowRows *rows, const GpuaggWindowKey *keys,
				const GpuaggKeyLayout *layout, uint32_t nkeys, int words, const void *scratch,
				uint64_t *items, GpuStreamRef stream)
{
	uint64_t ntiles = divide_up(rows->places, TILE);
	WindowLayout of = {};

	if (nkeys > GPUAGG_WINDOW_KEYS || words < 1 || words > 2 || rows->places > GPUAGG_WINDOW_PLACES)
		return GPUAGG_REFUSED;
	if (ntiles == 0)
		return GPUAGG_OK;
	for (uint32_t k = 0; k < nkeys; k++)
		of.key[k] = layout[k];
	if (words == 1)
		LAUNCH(pack_rows<1>, (unsigned) ntiles, THREADS, stream, *rows, keys_of(keys, nkeys), of,
			   (const WindowScratch *) scratch, items);
	else
		LAUNCH(pack_rows<2>, (unsigned) ntiles, THREADS, stream, *rows, keys_of(keys, nkeys), of,
			   (const WindowScratch *) scratch, items);
	return gpu_launch_status();
}
