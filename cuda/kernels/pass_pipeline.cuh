/*
 * pass_pipeline.cuh
 *	  The single-pass kernel of scans and segmented reductions.
 *
 * A block has STAGES tiles in shared memory, each at some step, and warps that do
 * one step each:
 *	  the loader	takes tickets, loads tiles
 *	  reducers		reduce a chunk of each tile
 *	  the publisher	combines the chunks' aggregates, publishes the tile's
 *	  the gatherer	finds a tile's prefix (lookback.cuh)
 *	  scanners		scan a chunk of each tile
 *	  the storer	writes results to memory
 * They meet at barriers in shared memory, one for each stage and step.  Every lane
 * arrives for its own accesses: one arrival a warp is no faster, and racecheck takes
 * it for a race.  Every warp sees all tiles of the block in order, then NO_TILE.
 *
 * The block's j-th tile is in stage j % STAGES.  A stage is loaded again after the
 * storer, the last to use it, is done; what the warps keep in shared memory for a
 * tile stays until then.
 */
#ifndef GPUAGG_PASS_PIPELINE_CUH
#define GPUAGG_PASS_PIPELINE_CUH

#include "kernels/pass_plan.cuh"

template <class P> struct Pipeline
{
	typedef typename P::E E;
	typedef typename P::Op Op;
	typedef typename P::State State;
	typedef typename P::Value Value;
	typedef typename P::Result Result;
	typedef typename P::Shared Shared;
	typedef typename P::Bits Bits;
	typedef typename E::Acc Acc;

	const ScanColumn &column;
	Shared &shared;
	LookBack<Op> look;
	uint32_t ntiles;

	__device__ __forceinline__ Pipeline(const ScanColumn &c, Shared &s, uint32_t n)
		: column(c), shared(s), look(c.scratch), ntiles(n)
	{
	}

	static __device__ __forceinline__ uint64_t first_row(uint32_t tile)
	{
		return (uint64_t) tile * P::ROWS;
	}

	__device__ __forceinline__ int rows_of(uint32_t tile) const
	{
		uint64_t left = column.nrows - first_row(tile);

		return left < P::ROWS ? (int) left : P::ROWS;
	}

	/*
	 * The loader
	 */

	/* Loads a tile, or marks the end. */
	__device__ __forceinline__ void fill(int stage, uint32_t tile) const
	{
		const Value *from = (const Value *) column.values + first_row(tile);
		bool bulk = false;

		if (lane_id() == 0)
		{
			shared.tile[stage] = tile;
			copy_barrier_arrive(&shared.known[stage]);
		}
		if (tile != NO_TILE && E::READS)
		{
			bulk = BULK_COPY && aligned16(from) && rows_of(tile) == P::ROWS;
			if (!bulk)
			{
				Value absent;

				memcpy(&absent, &column.absent, sizeof(absent));
				tile_load<P::ROWS>((Value *) shared.stage[stage], from, rows_of(tile), absent,
								   lane_id(), WARP_SIZE);
				copy_out_fence();
			}
		}
		if (bulk)
			warp_copy_in(&shared.loaded[stage], shared.stage[stage], from, P::BYTES);
		else
			copy_barrier_arrive(&shared.loaded[stage]);
	}

	/*
	 * A ticket is taken only when its tile can be loaded at once: all other blocks
	 * wait for a tile that waits for a stage.  A block takes one tile if there are
	 * no more tiles than blocks.
	 */
	__device__ __forceinline__ void load() const
	{
		bool single = ntiles <= gridDim.x;
		uint32_t tile = 0;

		for (uint32_t j = 0; tile != NO_TILE; j++)
		{
			int stage = (int) (j % P::STAGES);

			copy_barrier_wait(&shared.stored[stage], (j / P::STAGES & 1) ^ 1);
			if (lane_id() == 0)
			{
				uint64_t ticket = single && j > 0 ? ntiles : look.take();

				tile = ticket < ntiles ? (uint32_t) ticket : NO_TILE;
				if (tile == 0 && column.state_in != nullptr)
					look.publish_carry(carried_in());
			}
			tile = warp_shfl(tile, 0);
			fill(stage, tile);
			__syncwarp(FULL_MASK);
		}
	}

	/*
	 * The storer; scanners have already written results of segments
	 */
	__device__ __forceinline__ void store() const
	{
		for (uint32_t j = 0;; j++)
		{
			int stage = (int) (j % P::STAGES);
			const char *out = P::IN_PLACE ? shared.stage[stage] : shared.out[j % P::OUTS];
			char *to = (char *) column.results;
			uint32_t tile;
			uint32_t bytes;

			copy_barrier_wait(&shared.scanned[stage], j / P::STAGES & 1);
			tile = shared.tile[stage];
			if (tile == NO_TILE)
				break;
			to += first_row(tile) * sizeof(Result);
			bytes = (uint32_t) rows_of(tile) * (uint32_t) sizeof(Result);
			if (!P::IN_PLACE)
				copy_barrier_arrive(&shared.stored[stage]);
			if (P::MODE != SEGMENTS)
				tile_store(to, out, bytes, BULK_COPY && aligned16(to), (unsigned) lane_id(),
						   WARP_SIZE);
			if (lane_id() == 0)
				copy_out_wait<0>();
			copy_barrier_arrive(P::IN_PLACE ? &shared.stored[stage] : &shared.left[j % P::OUTS]);
		}
	}

	/* The state before row 0, in the loader of the block that has tile 0. */
	__device__ inline State carried_in() const
	{
		State s = Op::identity();

		if (column.heads == nullptr || column.nrows == 0 || !(column.heads[0] & 1))
		{
			s.value = E::from_carry(column.state_in->state, column);
			if constexpr (P::MODE != PLAIN)
				s.seen = column.state_in->state.f.counts.n > 0;
		}
		return s;
	}

	/*
	 * Reducers
	 */

	/* The head of row 0 ends no segment; whether it cuts the carry off, carried_in() decides. */
	__device__ __forceinline__ Bits load_bits(uint32_t tile, int chunk) const
	{
		uint64_t row = first_row(tile) + (unsigned) (chunk * WARP_SIZE + lane_id()) * P::ITEMS;
		Bits bits = {0, 0};

		if (P::MODE != PLAIN)
		{
			bits.valid = column.validity != nullptr
							 ? tile_bits(column.validity, row, P::ITEMS, column.nrows)
							 : tile_rows(row, P::ITEMS, column.nrows);
			if (column.heads != nullptr)
				bits.heads = tile_bits(column.heads, row, P::ITEMS, column.nrows) &
							 (row == 0 ? ~(uint32_t) 1 : ~(uint32_t) 0);
		}
		return bits;
	}

	/* Calls f(i, value) for the lane's rows of a chunk. */
	template <class F> static __device__ __forceinline__ void for_rows(const Quad *vectors, F f)
	{
		UNROLL
		for (int v = 0; v < P::VECTORS; v++)
		{
			Value values[P::PER_VECTOR] = {};

			if (E::READS)
			{
				Quad quad = vectors[v];

				memcpy(values, &quad, sizeof(values));
			}
			UNROLL
			for (int j = 0; j < P::PER_VECTOR; j++)
				f(v * P::PER_VECTOR + j, values[j]);
		}
	}

	/* The contribution of row i. */
	__device__ __forceinline__ Acc accept(int i, Value value, const Bits &bits) const
	{
		return P::MODE == PLAIN || (bits.valid >> i & 1) ? E::from(value, column) : E::identity();
	}

	/* The lane's rows of a chunk, combined. */
	__device__ __forceinline__ State lane_total(const Quad *vectors, const Bits &bits) const
	{
		State state = Op::identity();

		for_rows(vectors, [&](int i, Value value) {
			if (P::MODE != PLAIN && (bits.heads >> i & 1))
				state.value = E::identity();
			state.value = E::apply(state.value, accept(i, value, bits));
		});
		if constexpr (P::MODE != PLAIN)
		{
			int last_head = bits.heads ? 31 - __clz((int) bits.heads) : 0;

			state.seen = bits.valid >> last_head != 0;
			state.heads = P::MODE == SEGMENTS ? (uint32_t) __popc(bits.heads) : bits.heads != 0;
		}
		return state;
	}

	static __device__ __forceinline__ const Quad *vectors_of(const char *stage, int chunk)
	{
		return (const Quad *) stage + (chunk * WARP_SIZE + lane_id()) * P::VECTORS;
	}

	__device__ __forceinline__ void reduce(int chunk) const
	{
		uint32_t tile;
		uint32_t j = 0;

		do
		{
			int stage = (int) (j % P::STAGES);
			uint32_t parity = j / P::STAGES & 1;

			copy_barrier_wait(&shared.known[stage], parity);
			tile = shared.tile[stage];
			if (tile != NO_TILE)
			{
				Bits bits = load_bits(tile, chunk);
				int lane = chunk * WARP_SIZE + lane_id();
				State state;
				State before;

				if (P::MODE != PLAIN)
					shared.bits[stage][lane] = bits;
				copy_barrier_wait(&shared.loaded[stage], parity);
				state = warp_scan<Op>(lane_total(vectors_of(shared.stage[stage], chunk), bits));
				before = warp_shfl_up(state, 1);
				shared.before_lane[stage][lane] = lane_id() > 0 ? before : Op::identity();
				if (lane_id() == WARP_SIZE - 1)
					shared.before_chunk[stage][chunk] = state;
			}
			copy_barrier_arrive(&shared.reduced[stage]);
			j++;
		} while (tile != NO_TILE);
	}

	/*
	 * The publisher
	 */
	__device__ __forceinline__ void publish() const
	{
		uint32_t tile;
		uint32_t j = 0;

		do
		{
			int stage = (int) (j % P::STAGES);

			copy_barrier_wait(&shared.reduced[stage], j / P::STAGES & 1);
			tile = shared.tile[stage];
			if (tile != NO_TILE)
			{
				State state = Op::identity();
				State before;

				if (lane_id() < P::CHUNKS)
					state = shared.before_chunk[stage][lane_id()];
				state = warp_scan<Op>(state);
				before = warp_shfl_up(state, 1);
				if (lane_id() < P::CHUNKS)
					shared.before_chunk[stage][lane_id()] = lane_id() > 0 ? before : Op::identity();
				if (lane_id() == P::CHUNKS - 1)
				{
					look.publish(tile, state);
					shared.total[stage] = state;
				}
			}
			copy_barrier_arrive(&shared.published[stage]);
			j++;
		} while (tile != NO_TILE);
	}

	/*
	 * The gatherer
	 */

	/* By 2^18 tiles, so that the number of heads fits 32 bits. */
	__device__ __forceinline__ void gather() const
	{
		static_assert(TILE_ROWS_MAX <= 1 << 13, "2^18 tiles have at most 2^31 heads");

		/*
		 * Five loads at once: a warp reads the tiles of 160 blocks in the time of
		 * one.  Measured on an H200: faster, except MARKED.
		 */
		constexpr bool FIRST_ALONE = P::MODE == MARKED;
		constexpr int LOOKS = FIRST_ALONE ? 3 : 5;
		State running = Op::identity();
		uint64_t ordinal = 0;
		uint32_t known = 0; /* tiles that are in `running` */

		for (uint32_t j = 0;; j++)
		{
			int stage = (int) (j % P::STAGES);
			uint32_t tile;

			copy_barrier_wait(&shared.published[stage], j / P::STAGES & 1);
			tile = shared.tile[stage];
			if (tile == NO_TILE)
			{
				copy_barrier_arrive(&shared.placed[stage]);
				break;
			}
			if (known == 0 && column.state_in != nullptr)
				running = look.carry();
			while (known < tile)
			{
				uint32_t end = tile - known > 1u << 18 ? known + (1u << 18) : tile;
				State state = look.template share<WARP_SIZE, LOOKS, FIRST_ALONE>(known, end,
																				 lane_id());

				state = warp_shfl(warp_reduce<Op>(state), 0);
				running = Op::combine(running, state);
				if constexpr (P::MODE == SEGMENTS)
					ordinal += state.heads;
				known = end;
			}
			if (lane_id() == 0)
			{
				shared.before[stage] = running;
				shared.ordinal[stage] = ordinal;
			}
			running = Op::combine(running, shared.total[stage]);
			if (tile == ntiles - 1)
				finish(running, ordinal + heads_of(stage));
			ordinal += heads_of(stage);
			copy_barrier_arrive(&shared.placed[stage]);
			known++;
		}
	}

	__device__ __forceinline__ uint32_t heads_of(int stage) const
	{
		if constexpr (P::MODE == SEGMENTS)
			return shared.total[stage].heads;
		return 0;
	}

	/* After the last tile: the state, and the result of the segment still open. */
	__device__ inline void finish(State running, uint64_t ordinal) const
	{
		bool seen = scan_plain_seen(column);

		if constexpr (P::MODE != PLAIN)
			seen = running.seen;
		if (P::MODE == SEGMENTS && lane_id() == 0)
		{
			*column.nsegments = column.nrows > 0 ? ordinal + 1 : 0;
			if (column.nrows > 0)
			{
				((Result *) column.results)[ordinal] = E::result(running.value, column);
				set_status(ordinal, seen, E::overflows(running.value));
			}
		}
		scan_write_state<E>(column, running.value, seen);
	}

	__device__ __forceinline__ void set_status(uint64_t i, bool seen, bool overflow) const
	{
		if (overflow)
			shared.overflowed = 1;
		if (column.status != nullptr)
			column.status[i] = !seen	  ? GPUAGG_ROW_NULL
							   : overflow ? GPUAGG_ROW_OVERFLOW
										  : GPUAGG_ROW_VALUE;
	}

	/*
	 * Scanners
	 */

	/* The results of a lane's rows; returns which of them overflow. */
	template <bool EXCLUSIVE>
	__device__ __forceinline__ uint32_t scan_rows(const Quad *vectors, Quad *out, const Bits &bits,
												  Acc acc) const
	{
		constexpr int WIDTH = (int) (sizeof(Result) /
									 sizeof(Value)); /* quads of results a vector */
		Result results[P::PER_VECTOR];
		uint32_t overflows = 0;

		for_rows(vectors, [&](int i, Value value) {
			int j = i % P::PER_VECTOR;

			if (P::MODE != PLAIN && (bits.heads >> i & 1))
				acc = E::identity();
			if (EXCLUSIVE)
			{
				results[j] = E::result(acc, column);
				overflows |= (uint32_t) E::overflows(acc) << i;
			}
			acc = E::apply(acc, accept(i, value, bits));
			if (!EXCLUSIVE)
			{
				results[j] = E::result(acc, column);
				overflows |= (uint32_t) E::overflows(acc) << i;
			}
			if (j == P::PER_VECTOR - 1)
			{
				Quad quad[WIDTH];

				memcpy(quad, results, sizeof(quad));
				if (WIDTH == 2)
				{
					/* lanes four apart would use one bank: half of them store in reverse order */
					int first = lane_id() / 4 % 2;

					out[i / P::PER_VECTOR * 2 + first] = first ? quad[WIDTH - 1] : quad[0];
					out[i / P::PER_VECTOR * 2 + 1 - first] = first ? quad[0] : quad[WIDTH - 1];
				}
				else
					out[i / P::PER_VECTOR] = quad[0];
			}
		});
		return overflows;
	}

	/*
	 * The statuses of a chunk, exchanged through the words of its bits.  seen:
	 * whether there is a value before the lane's rows.
	 */
	__device__ __forceinline__ void scan_status(uint32_t tile, int chunk, Bits *words,
												const Bits &bits, bool seen,
												uint32_t overflows) const
	{
		uint64_t row = first_row(tile) + (unsigned) (chunk * WARP_SIZE * P::ITEMS);
		uint32_t null = 0;

		for (int i = 0; i < P::ITEMS; i++)
		{
			bool before;

			seen &= !(bits.heads >> i & 1);
			before = seen;
			seen |= bits.valid >> i & 1;
			null |= (uint32_t) !(column.exclusive ? before : seen) << i;
		}
		__syncwarp(FULL_MASK);
		words[lane_id()] = {null, overflows};
		__syncwarp(FULL_MASK);
		for (int i = lane_id(); i < WARP_SIZE * P::ITEMS; i += WARP_SIZE)
			if (row + (unsigned) i < column.nrows)
			{
				Bits w = words[i / P::ITEMS];

				set_status(row + (unsigned) i, !(w.valid >> i % P::ITEMS & 1),
						   w.heads >> i % P::ITEMS & 1);
			}
	}

	/*
	 * A result for each head of a chunk: that of the segment which ends there.  They
	 * are collected side by side, as many as there is room for, and then written.
	 * in_tile: heads in the tile before the lane's rows; state: their prefix.
	 */
	__device__ __forceinline__ void scan_segments(const Quad *vectors, int chunk, const Bits &bits,
												  uint32_t in_tile, State state,
												  uint64_t ordinal) const
	{
		constexpr uint32_t BYTES = WARP_SIZE * P::VECTORS * 16;
		constexpr uint32_t AT_ONCE = BYTES / sizeof(Result);
		Result *out = (Result *) (shared.out[0] + chunk * (int) BYTES);
		uint32_t before = warp_shfl(in_tile, 0);
		uint32_t nheads = warp_shfl(in_tile + (uint32_t) __popc(bits.heads), WARP_SIZE - 1) -
						  before;

		for (uint32_t first = 0; first < nheads; first += AT_ONCE)
		{
			uint32_t count = nheads - first < AT_ONCE ? nheads - first : AT_ONCE;
			uint32_t local = in_tile - before - first;
			State running = state;

			__syncwarp(FULL_MASK);
			for_rows(vectors, [&](int i, Value value) {
				if (bits.heads >> i & 1)
				{
					if (local < AT_ONCE)
					{
						out[local] = E::result(running.value, column);
						set_status(ordinal + before + first + local, running.seen,
								   E::overflows(running.value));
					}
					local++;
					running.value = E::identity();
					running.seen = 0;
				}
				running.value = E::apply(running.value, accept(i, value, bits));
				running.seen |= bits.valid >> i & 1;
			});
			__syncwarp(FULL_MASK);
			for (uint32_t i = (uint32_t) lane_id(); i < count; i += WARP_SIZE)
				((Result *) column.results)[ordinal + before + first + i] = out[i];
		}
	}

	__device__ __forceinline__ void scan_chunk(uint32_t j, int chunk, uint32_t tile) const
	{
		int stage = (int) (j % P::STAGES);
		const Quad *vectors = vectors_of(shared.stage[stage], chunk);
		char *out = P::IN_PLACE ? shared.stage[stage] : shared.out[j % P::OUTS];
		Bits bits = {~(uint32_t) 0, 0};
		State in_tile = Op::combine(shared.before_chunk[stage][chunk],
									shared.before_lane[stage][chunk * WARP_SIZE + lane_id()]);
		State before = Op::combine(shared.before[stage], in_tile);

		if (P::MODE != PLAIN)
			bits = shared.bits[stage][chunk * WARP_SIZE + lane_id()];
		if constexpr (P::MODE == SEGMENTS)
			scan_segments(vectors, chunk, bits, in_tile.heads, before, shared.ordinal[stage]);
		else
		{
			Quad *to = (Quad *) out + (vectors - (const Quad *) shared.stage[stage]) *
										  (int) (sizeof(Result) / sizeof(Value));
			uint32_t overflows = column.exclusive
									 ? scan_rows<true>(vectors, to, bits, before.value)
									 : scan_rows<false>(vectors, to, bits, before.value);

			overflows &= tile_rows(first_row(tile) +
									   (unsigned) (chunk * WARP_SIZE + lane_id()) * P::ITEMS,
								   P::ITEMS, column.nrows);
			if (overflows != 0)
				shared.overflowed = 1;
			if constexpr (P::MODE == MARKED)
				if (column.status != nullptr)
					scan_status(tile, chunk, &shared.bits[stage][chunk * WARP_SIZE], bits,
								before.seen, overflows);
		}
	}

	__device__ __forceinline__ void scan(int chunk) const
	{
		for (uint32_t j = 0;; j++)
		{
			int stage = (int) (j % P::STAGES);
			uint32_t tile;

			copy_barrier_wait(&shared.placed[stage], j / P::STAGES & 1);
			copy_barrier_wait(&shared.loaded[stage], j / P::STAGES & 1);
			tile = shared.tile[stage];
			if (tile == NO_TILE)
			{
				copy_barrier_arrive(&shared.scanned[stage]);
				break;
			}
			if (!P::IN_PLACE)
				copy_barrier_wait(&shared.left[j % P::OUTS], (j / P::OUTS & 1) ^ 1);
			scan_chunk(j, chunk, tile);
			copy_out_fence();
			copy_barrier_arrive(&shared.scanned[stage]);
		}
	}
};

template <class P>
static __device__ __forceinline__ void
scan_block(const ScanColumn &column, uint32_t ntiles, typename P::Shared &shared)
{
	typedef typename P::E E;

	if (threadIdx.x == 0)
	{
		for (int i = 0; i < P::STAGES; i++)
		{
			copy_barrier_init(&shared.known[i]);
			copy_barrier_init(&shared.loaded[i], WARP_SIZE);
			copy_barrier_init(&shared.reduced[i], P::CHUNKS * WARP_SIZE);
			copy_barrier_init(&shared.published[i], WARP_SIZE);
			copy_barrier_init(&shared.placed[i], WARP_SIZE);
			copy_barrier_init(&shared.scanned[i], P::CHUNKS * WARP_SIZE);
			copy_barrier_init(&shared.stored[i], WARP_SIZE);
		}
		for (int i = 0; i < P::OUTS; i++)
			copy_barrier_init(&shared.left[i], WARP_SIZE);
		shared.overflowed = 0;
	}
	/* the tiles that the first tickets are for */
	if (E::READS)
		for (uint64_t i = 0; i < 2; i++)
			tile_prefetch((const typename P::Value *) column.values,
						  (blockIdx.x + i * gridDim.x) * P::ROWS, P::ROWS, column.nrows);
	__syncthreads();
	launched_early();

	Pipeline<P> pipe(column, shared, ntiles);
	int warp = warp_id();

	if (warp == 0)
		pipe.load();
	else if (warp == 1)
		pipe.gather();
	else if (warp == 2)
		pipe.store();
	else if (warp == 3)
		pipe.publish();
	else if (warp < 4 + P::CHUNKS)
		pipe.reduce(warp - 4);
	else
		pipe.scan(warp - 4 - P::CHUNKS);

	__syncthreads();
	if (threadIdx.x == 0)
		scan_close(column, pipe.look, ntiles, shared.overflowed != 0);
}

template <class P>
static __global__ void
__launch_bounds__(P::THREADS, 1) scan_tiles(ScanColumn column, uint32_t ntiles)
{
	SHARED_LARGE(typename P::Shared, shared);

	if constexpr (P::LARGE ? WITH_LARGE_SHARED : WITH_SMALL_SHARED)
		scan_block<P>(column, ntiles, shared);
}

template <class P>
static GpuaggReason
scan_launch(const ScanColumn &column, GpuStreamRef stream)
{
	static_assert(sizeof(typename P::Shared) <= (P::LARGE ? LARGE_SHARED : SMALL_SHARED),
				  "shared memory of a block");

	/* a process has one device */
	static const unsigned resident = resident_blocks(scan_tiles<P>, P::THREADS,
													 sizeof(typename P::Shared));
	uint32_t ntiles = tiles_of(column.nrows, P::ROWS);

	LAUNCH_EARLY(scan_tiles<P>, ntiles < resident ? ntiles : resident, P::THREADS,
				 sizeof(typename P::Shared), stream, column, ntiles);
	return gpu_launch_status();
}

#endif /* GPUAGG_PASS_PIPELINE_CUH */
