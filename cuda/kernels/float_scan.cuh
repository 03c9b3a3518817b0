/*
 * float_scan.cuh
 *	  The single-pass kernel of exact sums of floats, by row and by segment.
 *
 * Tiles learn their prefixes, as FloatStates, by look-back (lookback.cuh).  Inside a
 * tile sums are in bins (float_tile.cuh) or as FloatStates (the wide way,
 * float_wide.cuh); both are exact, so they give the same bits.
 *
 * A block has three tiles under way.  It sums one and publishes the sum; then it
 * gathers the prefix of the one it summed a step ago, which other blocks have
 * published meanwhile, and rounds its rows; the third is being loaded to where the
 * results before have just left shared memory.
 */
#ifndef GPUAGG_FLOAT_SCAN_CUH
#define GPUAGG_FLOAT_SCAN_CUH

#include "device/tile.cuh"
#include "kernels/float_gather.cuh"
#include "kernels/float_wide.cuh"
#include "kernels/scan.cuh"

template <class T> struct FloatColumn
{
	const T *values;
	const uint64_t *validity; /* or NULL */
	const uint64_t *heads;	  /* or NULL */
	uint64_t nrows;
	uint64_t tiles;
	int first_chunk; /* of Sum256s */
	bool exclusive;
	bool wide; /* always the wide way */
	T *results;
	const int64_t *counts; /* FLOAT_AVERAGES: values up to each row */
	uint8_t *status;	   /* or NULL */
	uint64_t *nsegments;   /* FLOAT_SEGMENTS */
	const GpuScanState *state_in;
	GpuScanState *state_out;
	void *scratch;
};

static __device__ __forceinline__ double
round_pair(double high, double low, double)
{
	return high + low;
}

static __device__ __forceinline__ float
round_pair(double high, double low, float)
{
	return round_to_float(high, low);
}

template <class P> struct FloatPipeline
{
	typedef typename P::T T;
	typedef typename P::Shared Shared;
	typedef FloatTile<P> Tile;
	typedef FloatWide<P> Wide;

	static constexpr bool MARKED = P::MODE != FLOAT_PLAIN;
	static constexpr bool SEGMENTS = P::MODE == FLOAT_SEGMENTS;
	static constexpr bool AVERAGES = P::MODE == FLOAT_AVERAGES;
	static constexpr uint32_t ALL = (uint32_t) ((UINT64_C(1) << P::ITEMS) - 1);

	const FloatColumn<T> &column;
	Shared &shared;
	FloatGather<P> gather;
	uint32_t parities;
	bool overflowed;
	bool misfit;

	__device__ __forceinline__ FloatPipeline(const FloatColumn<T> &c, Shared &s)
		: column(c), shared(s), gather(c.scratch), parities(0), overflowed(false), misfit(false)
	{
	}

	__device__ __forceinline__ bool comes_in_bulk(uint64_t tile) const
	{
		return BULK_COPY && aligned16(column.values) && (tile + 1) * P::ROWS <= column.nrows;
	}

	/* Thread TAKER: starts to load a tile, if there is one. */
	__device__ __forceinline__ void fill(int stage, uint64_t tile) const
	{
		shared.tile[stage] = tile;
		if (tile < column.tiles && comes_in_bulk(tile))
			copy_in(&shared.full[stage], shared.row[stage], column.values + tile * P::ROWS,
					(uint32_t) sizeof(shared.row[0]));
	}

	/* All threads of the block that has tile 0.  A head of row 0 cuts the carry off. */
	__device__ inline void publish_carry()
	{
		/* a stage that is not filled yet */
		static_assert(sizeof(GpuScanState) <= sizeof(shared.row[0]) &&
						  sizeof(GpuScanState) % 4 == 0,
					  "room for a state, in words");
		uint32_t *copy = (uint32_t *) shared.row[FLOAT_STAGES - 1];

		for (unsigned i = threadIdx.x; i < sizeof(GpuScanState) / 4; i += P::THREADS)
			copy[i] = ((const uint32_t *) column.state_in)[i];
		__syncthreads();
		if (threadIdx.x == 0)
		{
			FloatState carry = FloatOp::identity();

			if (column.heads == nullptr || column.nrows == 0 || !(column.heads[0] & 1))
				float_state_from_carry((const GpuScanState *) copy, column.first_chunk, &carry);
			misfit |= (carry.seen & SEEN_MISFIT) != 0;
			gather.look.publish_carry(carry);
		}
		copy_out_fence();
		__syncthreads();
	}

	/* The head of row 0 matters to publish_carry() only. */
	__device__ __forceinline__ ThreadRows load_bits(uint64_t tile) const
	{
		ThreadRows rows = {ALL, ALL, 0};
		uint64_t row = tile * P::ROWS + threadIdx.x * P::ITEMS;

		if ((tile + 1) * P::ROWS > column.nrows)
		{
			uint64_t left = row < column.nrows ? column.nrows - row : 0;

			rows.present = left < P::ITEMS ? (1u << left) - 1 : ALL;
			rows.valid = rows.present;
		}
		if (MARKED && column.validity != nullptr)
			rows.valid = tile_bits(column.validity, row, P::ITEMS, column.nrows);
		if (MARKED && column.heads != nullptr)
			rows.heads = tile_bits(column.heads, row, P::ITEMS, column.nrows);
		if (MARKED && row == 0)
			rows.heads &= ~1u;
		return rows;
	}

	/* All threads: waits for a tile, publishes its sum. */
	__device__ __forceinline__ ThreadRows reduce(int stage, int slot, uint64_t tile)
	{
		T *row = shared.row[stage] + threadIdx.x * P::ITEMS;
		ThreadRows rows = load_bits(tile);
		FloatWay way;
		MarkedBins total;

		if (comes_in_bulk(tile))
		{
			copy_barrier_wait(&shared.full[stage], parities >> stage & 1);
			parities ^= 1u << stage;
		}
		else
		{
			uint64_t left = column.nrows - tile * P::ROWS;

			tile_load<P::ROWS>(shared.row[stage], column.values + tile * P::ROWS,
							   left < P::ROWS ? (int) left : P::ROWS, (T) 0);
			__syncthreads();
		}
		way.exponent = Tile::classify(shared, row, rows.valid);
		/* until earlier results have left shared memory: their stage is loaded next */
		if (threadIdx.x == 0)
			copy_out_wait<0>();
		way.place = bins_place(way.exponent, ROOM_FIRST, column.first_chunk);
		way.bins = !column.wide && way.exponent < 0x7ff &&
				   way.exponent + 52 <= 32 * column.first_chunk + GPUAGG_SUM256_VALUE_BITS;
		while (way.bins && !Tile::scan_bins(shared, row, rows, way.place, slot, &total))
		{
			int least = bins_place(way.exponent, ROOM_LEAST, column.first_chunk);

			way.bins = way.place > least;
			way.place = least;
			__syncthreads();
		}
		if (!way.bins)
			misfit |= !Wide::total(shared, row, rows, column.first_chunk);
		if (threadIdx.x == P::THREADS - 1)
		{
			FloatState s;

			if (way.bins)
			{
				s.sum = bins_to_sum256(total.sum, way.place - 32 * column.first_chunk);
				s.seen = total.seen & 0xff;
				s.seen |= s.seen & SEEN_VALUE ? SEEN_NOT_NEGZERO : 0;
				s.heads = total.seen >> 8;
			}
			else
				s = shared.total;
			gather.look.publish(tile, s);
			way.heads = s.heads;
			way.at = bins_at(way.place);
			shared.way[slot] = way;
		}
		return rows;
	}

	/*
	 * Results in place of the thread's values; returns which rows overflow.  `sum`
	 * has been lifted.  Without TAIL, `tail` is 0.
	 */
	template <bool TAIL>
	__device__ __forceinline__ uint32_t scan_rows(T *row, const ThreadRows &rows,
												  const FloatWay &way, Bins sum, double tail)
	{
		const BinsPlace at = way.at;
		double waiting = 0;
		uint32_t overflows = 0;

		UNROLL
		for (int i = 0; i < P::ITEMS; i++)
		{
			double v = (double) row[i];
			double high;
			double low;
			T result;

			if (MARKED)
			{
				bool head = rows.heads >> i & 1;
				Bins none = bins_zero();

				bins_lift(none);
				UNROLL
				for (int k = 0; k < NBINS; k++)
					sum.bin[k] = head ? none.bin[k] : sum.bin[k];
				tail = head ? 0 : tail;
				waiting = head ? 0 : waiting;
			}
			bins_deposit(sum, column.exclusive ? waiting : v, at);
			waiting = v;
			bins_round(sum, at, TAIL ? tail : 0, &high, &low);
			result = round_pair(high, low, T());
			if (TAIL && tail != 0 && bins_too_close(high, way.place))
				result = round_wide(sum, way.place);
			if (sizeof(T) < sizeof(double))
				overflows |= (uint32_t) !bits_finite(bits_of((double) result)) << i;
			row[i] = result;
		}
		return overflows;
	}

	/* The bits of an average of what round_with_tail() rounds. */
	static __device__ NOINLINE uint64_t average_with_tail(Bins sum, const Sum256 *before, int shift,
														  int first_chunk, uint32_t n)
	{
		Sum256 tail = sum256_low_bits(*before, shift);

		return average_bits(sum256_add(tail, bins_to_sum256(sum, shift)), n, first_chunk);
	}

	/* Averages in place of the thread's values; the rest as before.  None overflows. */
	__device__ __forceinline__ void average_rows(T *row, const ThreadRows &rows,
												 const FloatWay &way, Bins sum, double tail,
												 const int64_t *counts) const
	{
		const BinsPlace at = way.at;
		const int shift = way.place - 32 * column.first_chunk;
		double waiting = 0;

		bins_lower(sum);
		for (int i = 0; i < P::ITEMS; i++)
		{
			double v = (double) row[i];
			uint32_t n = Wide::count_at(rows, counts, i);
			uint64_t bits;

			if (rows.heads >> i & 1)
			{
				sum = bins_zero();
				tail = 0;
				waiting = 0;
			}
			bins_deposit(sum, column.exclusive ? waiting : v, at);
			waiting = v;
			if (tail != 0)
				bits = average_with_tail(sum, &shared.before.state.sum, shift, column.first_chunk,
										 n);
			else
				bits = average_bits(bins_to_sum256(sum, shift), n, column.first_chunk);
			row[i] = float_result(bits, T());
		}
	}

	__device__ __forceinline__ T round_wide(Bins sum, int place) const
	{
		bins_lower(sum);
		return float_result(round_with_tail(sum, &shared.before.state.sum,
											place - 32 * column.first_chunk, column.first_chunk,
											sizeof(T) < sizeof(double)),
							T());
	}

	/* Status bytes of the thread's rows. */
	__device__ __forceinline__ void set_status(const ThreadRows &rows, bool seen,
											   uint32_t overflows) const
	{
		uint8_t *status = shared.status + threadIdx.x * P::ITEMS;

		UNROLL
		for (int i = 0; i < P::ITEMS; i++)
		{
			bool before;

			if (rows.heads >> i & 1)
				seen = false;
			before = seen;
			seen |= rows.valid >> i & 1;
			status[i] = overflows >> i & 1					 ? GPUAGG_ROW_OVERFLOW
						: (column.exclusive ? before : seen) ? GPUAGG_ROW_VALUE
															 : GPUAGG_ROW_NULL;
		}
	}

	/* The sum before the thread's first row, lifted. */
	__device__ __forceinline__ Bins first_sum(int slot, uint32_t *marks, double *tail) const
	{
		Bins sum;

		*marks = shared.thread_seen[slot][threadIdx.x];
		*tail = 0;
		UNROLL
		for (int i = 0; i < NBINS; i++)
			sum.bin[i] = shared.thread_sum[slot][i][threadIdx.x];
		if (!(*marks & SEEN_HEAD))
		{
			bins_add(sum, shared.before.sum);
			*marks |= shared.before.state.seen & SEEN_VALUE;
			*tail = shared.before.tail;
		}
		bins_lift(sum);
		return sum;
	}

	/* All threads: a tile's results in place of its values, its statuses in shared.status. */
	__device__ __forceinline__ void results(int stage, int slot, uint64_t tile,
											const ThreadRows &rows)
	{
		T *row = shared.row[stage] + threadIdx.x * P::ITEMS;
		const int64_t *counts = AVERAGES ? column.counts + tile * P::ROWS + threadIdx.x * P::ITEMS
										 : nullptr;
		const FloatWay &way = shared.way[slot];
		uint32_t overflows = 0;
		bool seen;

		if (way.bins)
		{
			uint32_t marks;
			double tail;
			Bins sum = first_sum(slot, &marks, &tail);

			seen = (marks & SEEN_VALUE) != 0;
			if constexpr (AVERAGES)
				average_rows(row, rows, way, sum, tail, counts);
			else
				overflows = shared.before.tail != 0 ? scan_rows<true>(row, rows, way, sum, tail)
													: scan_rows<false>(row, rows, way, sum, 0);
		}
		else
		{
			FloatState s = Wide::before(shared, row, rows, column.first_chunk);

			seen = (s.seen & SEEN_VALUE) != 0;
			overflows = Wide::results(row, rows, s, column.first_chunk, column.exclusive, counts);
		}
		overflows &= rows.present;
		overflowed |= overflows != 0;
		if (column.status != nullptr)
			set_status(rows, seen, overflows);
	}

	/* The result of a segment, number `local` of those that end in the tile. */
	__device__ __forceinline__ void end_segment(T *out, uint32_t local, T result, bool seen,
												bool overflow)
	{
		out[local] = result;
		overflowed |= overflow;
		if (column.status != nullptr)
			column.status[gather.ordinal + local] = !seen	   ? GPUAGG_ROW_NULL
													: overflow ? GPUAGG_ROW_OVERFLOW
															   : GPUAGG_ROW_VALUE;
	}

	/* All threads: a result for each head, that of the segment which ends there, into `out`. */
	__device__ __forceinline__ void segments(int stage, int slot, const ThreadRows &rows, T *out)
	{
		const T *row = shared.row[stage] + threadIdx.x * P::ITEMS;
		const FloatWay &way = shared.way[slot];

		if (way.bins)
		{
			const BinsPlace at = way.at;
			uint32_t marks;
			double tail;
			Bins sum = first_sum(slot, &marks, &tail);
			uint32_t local = marks >> 8;
			bool seen = (marks & SEEN_VALUE) != 0;

			UNROLL
			for (int i = 0; i < P::ITEMS; i++)
			{
				if (rows.heads >> i & 1)
				{
					double high;
					double low;
					T result;

					bins_round(sum, at, tail, &high, &low);
					result = round_pair(high, low, T());
					if (tail != 0 && bins_too_close(high, way.place))
						result = round_wide(sum, way.place);
					end_segment(out, local++, result, seen, !bits_finite(bits_of((double) result)));
					sum = bins_zero();
					bins_lift(sum);
					tail = 0;
					seen = false;
				}
				bins_deposit(sum, (double) row[i], at);
				seen |= rows.valid >> i & 1;
			}
		}
		else
		{
			FloatState s = Wide::before(shared, row, rows, column.first_chunk);
			uint32_t local = s.heads - shared.before.state.heads;

			for (int i = 0; i < P::ITEMS; i++)
			{
				if (rows.heads >> i & 1)
				{
					bool overflow;
					T result = float_state_result<T>(s, column.first_chunk, &overflow);

					end_segment(out, local++, result, (s.seen & SEEN_VALUE) != 0, overflow);
					s = FloatOp::identity();
				}
				if (rows.valid >> i & 1)
					s = FloatOp::combine(s, float_state_of((double) row[i], column.first_chunk));
			}
		}
	}

	/* All threads, after a barrier: results and statuses of a tile to memory. */
	__device__ __forceinline__ void store(int stage, uint64_t tile) const
	{
		uint64_t first = tile * P::ROWS;
		uint64_t left = column.nrows - first;
		int n = left < P::ROWS ? (int) left : P::ROWS;
		T *to = column.results + first;

		if (n > 0)
			tile_store((char *) to, (const char *) shared.row[stage],
					   (uint32_t) (n * (int) sizeof(T)), BULK_COPY && aligned16(to));
		if (column.status != nullptr)
			for (int i = (int) threadIdx.x; i < n; i += P::THREADS)
				column.status[first + (unsigned) i] = shared.status[i];
	}

	/* All threads of the block that has the last tile, after gather() for it. */
	__device__ inline void finish(uint64_t tile, int slot)
	{
		GpuScanState *out = column.state_out;

		if (threadIdx.x == 0)
		{
			LookBackWords<FloatOp::Packed> total;

			total.load(gather.look.slot(tile));
			shared.total = FloatOp::combine(shared.before.state,
											FloatOp::unpack(total.wait(gather.look.slot(tile),
																	   gather.look.tag)));
			if (SEGMENTS && column.nrows > 0)
			{
				bool overflow;
				uint32_t local = shared.way[slot].heads;
				T result = float_state_result<T>(shared.total, column.first_chunk, &overflow);

				end_segment(column.results + gather.ordinal, local, result,
							(shared.total.seen & SEEN_VALUE) != 0, overflow);
			}
			if (SEGMENTS)
				*column.nsegments = column.nrows > 0 ? gather.ordinal + shared.way[slot].heads + 1
													 : 0;
			if (out != nullptr)
				float_state_to_counts(shared.total.seen, out);
		}
		__syncthreads();
		if (out != nullptr && threadIdx.x < GPUAGG_CHUNKS)
			out->state.f.chunk[threadIdx.x] = sum256_chunk(shared.total.sum, column.first_chunk,
														   (int) threadIdx.x);
	}

	/* All threads: the prefix and the results of a tile that has been summed. */
	__device__ __forceinline__ void finish_tile(int stage, int slot, uint64_t tile,
												const ThreadRows &rows)
	{
		gather.gather(shared, tile, slot, column.state_in, column.first_chunk, &misfit);
		if (shared.way[slot].bins && !shared.before.fits)
			Tile::refit(shared, shared.row[stage] + threadIdx.x * P::ITEMS, rows, slot,
						column.first_chunk);
		if constexpr (SEGMENTS)
		{
			T *to = column.results + gather.ordinal;
			T *out = shared.out + (uintptr_t) to % 16 / sizeof(T);
			uint32_t bytes = shared.way[slot].heads * (uint32_t) sizeof(T);

			segments(stage, slot, rows, out);
			copy_out_fence();
			__syncthreads();
			tile_store((char *) to, (const char *) out, bytes, BULK_COPY);
		}
		else
		{
			results(stage, slot, tile, rows);
			copy_out_fence();
			__syncthreads();
			store(stage, tile);
		}
		if (tile == column.tiles - 1)
			finish(tile, slot);
	}
};

template <class P>
static __global__ void
__launch_bounds__(P::THREADS, P::BLOCKS) float_scan(FloatColumn<typename P::T> column)
{
	SHARED_LARGE(typename P::Shared, shared);
	FloatPipeline<P> pipe(column, shared);
	const bool single = column.tiles <= gridDim.x; /* a tile a block */
	uint64_t ticket = column.tiles;
	uint64_t tile = column.tiles; /* to be rounded */
	uint64_t next;				  /* to be summed */
	ThreadRows rows = {0, 0, 0};
	int stage = 0; /* of `next` */
	int slot = 0;

	if (threadIdx.x == P::TAKER)
	{
		for (int i = 0; i < FLOAT_STAGES; i++)
			copy_barrier_init(&shared.full[i]);
		pipe.fill(0, pipe.gather.look.take());
		if (!single)
			ticket = pipe.gather.look.take();
	}
	__syncthreads();
	next = shared.tile[0];
	if (next == 0 && column.state_in != nullptr)
		pipe.publish_carry();
	while (tile < column.tiles || next < column.tiles)
	{
		int before = stage > 0 ? stage - 1 : FLOAT_STAGES - 1;
		int after = stage + 1 < FLOAT_STAGES ? stage + 1 : 0;
		ThreadRows next_rows = {0, 0, 0};

		if (next < column.tiles)
			next_rows = pipe.reduce(stage, slot, next);
		if (threadIdx.x == P::TAKER)
		{
			pipe.fill(after, ticket);
			if (!single)
				ticket = pipe.gather.look.take();
		}
		if (tile < column.tiles)
			pipe.finish_tile(before, slot ^ 1, tile, rows);
		else
			__syncthreads();
		tile = next;
		next = shared.tile[after];
		rows = next_rows;
		stage = after;
		slot ^= 1;
	}

	bool overflowed = __syncthreads_or(pipe.overflowed);
	bool misfit = __syncthreads_or(pipe.misfit);

	if (threadIdx.x == 0)
	{
		bool reports[LOOKBACK_REPORTS];

		copy_out_wait<0>();
		if (overflowed)
			pipe.gather.look.report(REPORT_OVERFLOW);
		if (misfit)
			pipe.gather.look.report(REPORT_MISFIT);
		if (pipe.gather.look.close(column.tiles, reports) && column.state_out != nullptr)
		{
			column.state_out->out_of_window = reports[REPORT_MISFIT];
			column.state_out->overflows = reports[REPORT_OVERFLOW];
		}
	}
}

/* A column without rows has one tile, for its state. */
static inline uint64_t
float_tiles(uint64_t nrows, int rows)
{
	return nrows == 0 ? 1 : divide_up(nrows, (uint64_t) rows);
}

template <class P>
static GpuaggReason
float_launch(FloatColumn<typename P::T> column, GpuStreamRef stream)
{
	/* a process has one device */
	static const unsigned resident = resident_blocks(float_scan<P>, P::THREADS,
													 sizeof(typename P::Shared));

	column.tiles = float_tiles(column.nrows, P::ROWS);
	LAUNCH_LARGE(float_scan<P>, column.tiles < resident ? (unsigned) column.tiles : resident,
				 P::THREADS, sizeof(typename P::Shared), stream, column);
	return gpu_launch_status();
}

#endif /* GPUAGG_FLOAT_SCAN_CUH */
