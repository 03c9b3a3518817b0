/*
 * query_total.cuh
 *	  Aggregates of the query machine: what threads and blocks add up.
 *
 * A thread's totals are words in shared memory, of each aggregate the count first:
 *
 *		COUNT		-
 *		SUM			INT32 64 bits; INT64 its low halves and its high halves, each in 64 bits
 *					(2^31 rows of a thread cannot overflow); INT128 192 bits; floats bins
 *		MOMENTS		as SUM, and squares of 128 bits for INT32, of 192 for INT64, of 320 for INT128;
 *					floats bins
 *		MIN, MAX	the order key; of INT128 two words
 *
 * When its range is done a block makes parts of them, one an aggregate, and leaves them in
 * scratch; the last block combines all blocks' parts.  Sums of floats are added up in chunks
 * as those of a column are (reduce_float.cu).
 */
#ifndef GPUAGG_QUERY_TOTAL_CUH
#define GPUAGG_QUERY_TOTAL_CUH

#include "kernels/query_part.cuh"

template <class Machine, bool FLOATS, bool SQUARES = false> struct QueryTotals
{
	typedef typename Machine::Lanes Lanes;

	static constexpr int V = Machine::ROWS;
	static constexpr bool WIDE = Machine::HAS_WIDE;

	typedef BinSums<double, false, V / 2> Bins;
	typedef BinSums<double, true, V / 2> Moments;
	typedef QueryFloatsOf<SQUARES> Floats;
	typedef QueryPart<SQUARES> Part;

	static constexpr int WORDS = SQUARES ? RESULT_WORDS : QUERY_WORDS;

	static_assert(Bins::TAKEN == V && Bins::NEAR == 2 && Bins::FAR == 2, "words of a thread");
	static_assert(Moments::NEAR == 2 && Moments::SQUARE_NEAR == 3 &&
					  Moments::FAR + Moments::SQUARE_FAR == 3,
				  "words of a thread");

	const QueryLaunch &launch;
	uint64_t *words; /* of this thread; the next one is blockDim.x further */
	Floats *floats;

	__device__ __forceinline__ QueryTotals(const QueryLaunch &query, unsigned char *shared)
		: launch(query), words((uint64_t *) (shared + query.layout.totals) + threadIdx.x),
		  floats((Floats *) (shared + query.layout.floats))
	{
	}

	__device__ __forceinline__ uint64_t &word(uint32_t number) const
	{
		return words[number * blockDim.x];
	}

	/* Begins with nothing; a barrier follows. */
	__device__ __forceinline__ void start() const
	{
		for (uint32_t i = 0; i < launch.plan.naggregates; i++)
		{
			const GpuQueryTotal &total = launch.plan.totals[i];

			for (uint32_t k = 0; k < total.words; k++)
				word(total.first + k) = 0;
		}
		for (uint32_t i = 0; FLOATS && i < launch.plan.nfloats; i++)
		{
			for (int k = 0; k < (SQUARES ? 3 : 2); k++)
				floats[i].all.sum[k][threadIdx.x] = 0;
			for (unsigned k = threadIdx.x; k < WORDS; k += blockDim.x)
				floats[i].word[k] = split_word(0);
		}
		for (uint32_t i = 0; FLOATS && i < launch.plan.naggregates; i++)
		{
			const GpuQueryTotal &total = launch.plan.totals[i];

			if (SQUARES && moments_of_floats(total))
				start_bins<Moments>(total);
			else if (sums_floats(total))
				start_bins<Bins>(total);
		}
	}

	/* Bins with nothing in them: what is a thread's is 0 already. */
	template <class B> __device__ __forceinline__ void start_bins(const GpuQueryTotal &total) const
	{
		B bins;

		bins.top = B::LOWEST;
		bins.limit = 0;
		bins.groups = bins.far_groups = 0;
		bins.misses = 0;
		keep(bins, total.floats);
	}

	/* What a warp's lanes have in common of a sum of floats. */
	template <class B> __device__ __forceinline__ void keep(const B &bins, uint32_t number) const
	{
		auto &warp = floats[number].warp[warp_id()];

		__syncwarp(FULL_MASK);
		if (lane_id() == 0)
		{
			warp.top = bins.top;
			warp.limit = bins.limit;
			warp.groups = bins.groups;
			warp.far_groups = bins.far_groups;
			warp.misses = bins.misses;
		}
		__syncwarp(FULL_MASK);
	}

	template <class B>
	__device__ __forceinline__ void fetch(B &bins, uint32_t number, uint32_t first) const
	{
		const auto &warp = floats[number].warp[warp_id()];

		bins.top = warp.top;
		bins.limit = warp.limit;
		bins.groups = warp.groups;
		bins.far_groups = warp.far_groups;
		bins.misses = warp.misses;
		bins.near[0] = word(first + 1);
		bins.near[1] = word(first + 2);
		UNROLL
		for (int i = 0; i < B::SQUARE_NEAR; i++)
			bins.squares[i] = word(first + 3 + (uint32_t) i);
	}

	/* The part of a block's bins that lies in shared memory. */
	template <class B> __device__ __forceinline__ static typename B::Storage &storage(Floats &sum)
	{
		if constexpr (B::SQUARE_FAR > 0)
			return sum.all;
		else
			return sum.far;
	}

	template <class B>
	__device__ __forceinline__ void add_floats(const GpuQueryTotal &total, const Lanes &a,
											   uint32_t rows) const
	{
		Floats &sum = floats[total.floats];
		double v[V];
		B bins;

		UNROLL
		for (int k = 0; k < V; k++)
			v[k] = rows >> k & 1 ? double_of(a.low[k]) : 0;
		fetch(bins, total.floats, total.first);
		bins.take(v, sum.word, storage<B>(sum), BIN_MOST_VALUES);
		word(total.first + 1) = bins.near[0];
		word(total.first + 2) = bins.near[1];
		UNROLL
		for (int i = 0; i < B::SQUARE_NEAR; i++)
			word(total.first + 3 + (uint32_t) i) = bins.squares[i];
		keep(bins, total.floats);
	}

	template <class T>
	__device__ __forceinline__ void add_extreme(const GpuQueryTotal &total, const Lanes &a,
												uint32_t rows, uint64_t before) const
	{
		bool least = total.op == GPUAGG_MIN;
		int64_t best = before > 0 ? (int64_t) word(total.first + 1) : least ? INT64_MAX : INT64_MIN;

		UNROLL
		for (int k = 0; k < V; k++)
		{
			int64_t other = query_order_key(Machine::template value<T>(a, k));
			bool better = least ? other < best : other > best;

			best = (rows >> k & 1) && better ? other : best;
		}
		word(total.first + 1) = (uint64_t) best;
	}

	__device__ __forceinline__ void add_wide_extreme(const GpuQueryTotal &total, const Lanes &a,
													 uint32_t rows, uint64_t before) const
	{
		bool least = total.op == GPUAGG_MIN;
		Wide best = QueryType<Wide>::from(word(total.first + 1), word(total.first + 2));
		bool has = before > 0;

		UNROLL
		for (int k = 0; k < V; k++)
		{
			Wide other = Machine::template value<Wide>(a, k);
			bool better = !has || (least ? other < best : other > best);

			if ((rows >> k & 1) && better)
			{
				best = other;
				has = true;
			}
		}
		word(total.first + 1) = (uint64_t) best;
		word(total.first + 2) = (uint64_t) ((WideBits) best >> 64);
	}

	__device__ __forceinline__ void add_wide(const GpuQueryTotal &total, const Lanes &a,
											 uint32_t rows) const
	{
		uint64_t sum[3];

		UNROLL
		for (uint32_t i = 0; i < 3; i++)
			sum[i] = word(total.first + 1 + i);
		UNROLL
		for (int k = 0; k < V; k++)
			query_add_wide(sum, rows >> k & 1 ? Machine::template value<Wide>(a, k) : 0);
		UNROLL
		for (uint32_t i = 0; i < 3; i++)
			word(total.first + 1 + i) = sum[i];
	}

	__device__ __forceinline__ void add_wide_squares(const GpuQueryTotal &total, const Lanes &a,
													 uint32_t rows) const
	{
		uint64_t squares[5];
		uint64_t low[V];
		uint64_t high[V];

		UNROLL
		for (uint32_t i = 0; i < 5; i++)
			squares[i] = word(total.first + 4 + i);
		UNROLL
		for (int k = 0; k < V; k++)
		{
			low[k] = rows >> k & 1 ? a.low[k] : 0;
			high[k] = rows >> k & 1 ? a.high[k] : 0;
		}
		ROLLED
		for (int k = 0; k < V; k++, Machine::turn(low), Machine::turn(high))
		{
			uint64_t square[4];

			query_square(QueryType<Wide>::from(low[0], high[0]), square);

			uint64_t from[5] = {square[0], square[1], square[2], square[3], 0};

			query_add(squares, from);
		}
		UNROLL
		for (uint32_t i = 0; i < 5; i++)
			word(total.first + 4 + i) = squares[i];
	}

	/* Adds the values of those rows to an aggregate. */
	__device__ __forceinline__ void add(const GpuQueryStep &step, const Lanes &a,
										uint32_t rows) const
	{
		const GpuQueryTotal &total = launch.plan.totals[step.arg];
		uint64_t before = word(total.first);

		word(total.first) = before + (uint64_t) bit_count(rows);
		switch (step.code)
		{
			case QUERY_AGGREGATE_CODE(GPUAGG_SUM, QUERY_INT32):
			case QUERY_AGGREGATE_CODE(GPUAGG_MOMENTS, QUERY_INT32):
			{
				uint64_t sum = word(total.first + 1);

				UNROLL
				for (int k = 0; k < V; k++)
					sum += (uint64_t) (int64_t) (rows >> k & 1 ? (int32_t) a.low[k] : 0);
				word(total.first + 1) = sum;
				if (step.code == QUERY_AGGREGATE_CODE(GPUAGG_MOMENTS, QUERY_INT32))
				{
					uint64_t squares[2] = {word(total.first + 2), word(total.first + 3)};

					UNROLL
					for (int k = 0; k < V; k++)
					{
						int64_t v = rows >> k & 1 ? (int32_t) a.low[k] : 0;
						uint64_t from[2] = {(uint64_t) (v * v), 0};

						query_add(squares, from);
					}
					word(total.first + 2) = squares[0];
					word(total.first + 3) = squares[1];
				}
				break;
			}
			case QUERY_AGGREGATE_CODE(GPUAGG_SUM, QUERY_INT64):
			case QUERY_AGGREGATE_CODE(GPUAGG_MOMENTS, QUERY_INT64):
			{
				uint64_t low = word(total.first + 1);
				uint64_t high = word(total.first + 2);

				UNROLL
				for (int k = 0; k < V; k++)
				{
					uint64_t v = rows >> k & 1 ? a.low[k] : 0;

					low += (uint32_t) v;
					high += (uint64_t) ((int64_t) v >> 32);
				}
				word(total.first + 1) = low;
				word(total.first + 2) = high;
				if (Machine::HAS_HEAVY &&
					step.code == QUERY_AGGREGATE_CODE(GPUAGG_MOMENTS, QUERY_INT64))
				{
					uint64_t squares[3];

					UNROLL
					for (uint32_t i = 0; i < 3; i++)
						squares[i] = word(total.first + 3 + i);
					UNROLL
					for (int k = 0; k < V; k++)
					{
						int64_t v = rows >> k & 1 ? (int64_t) a.low[k] : 0;

						query_add_wide(squares, (Wide) v * v);
					}
					UNROLL
					for (uint32_t i = 0; i < 3; i++)
						word(total.first + 3 + i) = squares[i];
				}
				break;
			}
			case QUERY_AGGREGATE_CODE(GPUAGG_SUM, QUERY_INT128):
				if constexpr (WIDE)
					add_wide(total, a, rows);
				break;
			case QUERY_AGGREGATE_CODE(GPUAGG_MOMENTS, QUERY_INT128):
				if constexpr (WIDE && SQUARES)
				{
					add_wide(total, a, rows);
					add_wide_squares(total, a, rows);
				}
				break;
			case QUERY_AGGREGATE_CODE(GPUAGG_SUM, QUERY_FLOAT64):
				if constexpr (FLOATS)
					add_floats<Bins>(total, a, rows);
				break;
			case QUERY_AGGREGATE_CODE(GPUAGG_MOMENTS, QUERY_FLOAT64):
				if constexpr (SQUARES)
					add_floats<Moments>(total, a, rows);
				break;
			case QUERY_AGGREGATE_CODE(GPUAGG_MIN, QUERY_INT32):
			case QUERY_AGGREGATE_CODE(GPUAGG_MAX, QUERY_INT32):
				add_extreme<int32_t>(total, a, rows, before);
				break;
			case QUERY_AGGREGATE_CODE(GPUAGG_MIN, QUERY_INT64):
			case QUERY_AGGREGATE_CODE(GPUAGG_MAX, QUERY_INT64):
				add_extreme<int64_t>(total, a, rows, before);
				break;
			case QUERY_AGGREGATE_CODE(GPUAGG_MIN, QUERY_FLOAT32):
			case QUERY_AGGREGATE_CODE(GPUAGG_MAX, QUERY_FLOAT32):
				add_extreme<float>(total, a, rows, before);
				break;
			case QUERY_AGGREGATE_CODE(GPUAGG_MIN, QUERY_FLOAT64):
			case QUERY_AGGREGATE_CODE(GPUAGG_MAX, QUERY_FLOAT64):
				add_extreme<double>(total, a, rows, before);
				break;
			case QUERY_AGGREGATE_CODE(GPUAGG_MIN, QUERY_INT128):
			case QUERY_AGGREGATE_CODE(GPUAGG_MAX, QUERY_INT128):
				if constexpr (WIDE)
					add_wide_extreme(total, a, rows, before);
				break;
		}
	}

	/*
	 * Adds the warp's part of a column of integers as it is stored, if all its rows count; a
	 * lane takes other rows than elsewhere.  False: nothing has been added.
	 */
	__device__ __forceinline__ bool add_in_place(const Machine &machine,
												 const GpuQueryStep &step) const
	{
		uint32_t number = QUERY_SOURCE_NUMBER(step.a);
		const QueryColumn &column = machine.column(number);
		const GpuQueryTotal &total = launch.plan.totals[step.arg];
		bool is_signed = total.class_of == QUERY_INT32;
		uint64_t low = 0;  /* sum of what is stored, or of low halves */
		uint64_t high = 0; /* of high halves */

		if (V % 8 != 0 || column.has_nulls || !__all_sync(FULL_MASK, machine.live == Machine::ALL))
			return false;

		const unsigned char *values = machine.stage + launch.layout.values[number];
		const Quad *quads = (const Quad *) values + lane_id();
		uint32_t first = (uint32_t) (warp_id() * (V / 8) * WARP_SIZE + lane_id()); /* of eights */
		uint32_t sum = 0;

		switch (column.mode)
		{
			case LOAD_8:
				UNROLL
				for (int k = 0; k < V / 8; k++)
				{
					uint64_t v = ((const uint64_t *) values)[first + k * WARP_SIZE];
					uint64_t mask = UINT64_C(0x00ff00ff00ff00ff);

					v = (v & mask) + (v >> 8 & mask);
					sum += (uint32_t) v + (uint32_t) (v >> 32);
				}
				low = (sum & 0xffff) + (sum >> 16);
				break;
			case LOAD_16:
				UNROLL
				for (int k = 0; k < V / 8; k++)
				{
					Quad quad = ((const Quad *) values)[first + k * WARP_SIZE];

					UNROLL
					for (int i = 0; i < 4; i++)
						sum += (quad.word[i] & 0xffff) + (quad.word[i] >> 16);
				}
				low = sum;
				break;
			case LOAD_32:
				UNROLL
				for (int k = 0; k < V / 4; k++)
				{
					Quad quad = quads[warp_id() * (V / 4) * WARP_SIZE + k * WARP_SIZE];

					UNROLL
					for (int i = 0; i < 4; i++)
						low += is_signed ? (uint64_t) (int64_t) (int32_t) quad.word[i]
										 : quad.word[i];
				}
				break;
			default: /* LOAD_64 */
				UNROLL
				for (int k = 0; k < V / 2; k++)
				{
					Quad quad = quads[warp_id() * (V / 2) * WARP_SIZE + k * WARP_SIZE];

					low += (uint64_t) quad.word[0] + quad.word[2];
					high += (uint64_t) ((int64_t) (int32_t) quad.word[1] + (int32_t) quad.word[3]);
				}
		}
		word(total.first) += V;
		if (is_signed)
			word(total.first + 1) += low + V * column.base_low;
		else
		{
			word(total.first + 1) += low + V * (uint64_t) (uint32_t) column.base_low;
			word(total.first + 2) += high + V * (uint64_t) ((int64_t) column.base_low >> 32);
		}
		return true;
	}

	__device__ __forceinline__ static bool sums_floats(const GpuQueryTotal &total)
	{
		return (total.op == GPUAGG_SUM || total.op == GPUAGG_MOMENTS) &&
			   total.class_of == QUERY_FLOAT64;
	}

	__device__ __forceinline__ static bool moments_of_floats(const GpuQueryTotal &total)
	{
		return total.op == GPUAGG_MOMENTS && total.class_of == QUERY_FLOAT64;
	}

	template <class B> __device__ __forceinline__ void flush(const GpuQueryTotal &total) const
	{
		Floats &sum = floats[total.floats];
		B bins;

		fetch(bins, total.floats, total.first);
		bins.flush(sum.word, storage<B>(sum));
	}

	/* What this thread has of an aggregate. */
	__device__ __forceinline__ Part part_of(const GpuQueryTotal &total) const
	{
		constexpr uint32_t MOST = SQUARES ? 9 : 6;
		Part part = {};
		bool moments = total.op == GPUAGG_MOMENTS;
		uint64_t w[MOST] = {};

		for (uint32_t i = 0; i < MOST; i++)
			w[i] = i < total.words ? word(total.first + i) : 0;
		part.n = w[0];
		if (total.op == GPUAGG_COUNT || sums_floats(total))
			return part;
		if (total.class_of == QUERY_INT128)
		{
			part.sum[0] = w[1];
			part.sum[1] = w[2];
			part.sum[2] = w[3];
			UNROLL
			for (uint32_t i = 0; SQUARES && i < 5; i++)
				part.squares[SQUARES ? i : 0] = w[SQUARES ? 4 + i : 0];
		}
		else if (total.class_of == QUERY_INT64 && (moments || total.op == GPUAGG_SUM))
		{
			query_add_wide(part.sum, (Wide) w[1] + ((Wide) (int64_t) w[2] * ((Wide) 1 << 32)));
			part.squares[0] = w[3];
			part.squares[1] = w[4];
			part.squares[2] = w[5];
		}
		else
		{
			query_add_wide(part.sum, (Wide) (int64_t) w[1]);
			part.squares[0] = w[2];
			part.squares[1] = w[3];
		}
		if (!moments)
		{
			UNROLL
			for (int i = 0; i < (SQUARES ? 5 : 3); i++)
				part.squares[i] = 0;
		}
		return part;
	}

	__device__ __forceinline__ static Part &part_of_block(QueryScratch *scratch, uint32_t number,
														  unsigned block)
	{
		if constexpr (SQUARES)
			return scratch->wide_part[number][block];
		else
			return scratch->part[number][block];
	}

	/* What so many warps have left in their words of an aggregate. */
	__device__ __forceinline__ Part of_warps(const GpuQueryTotal &total, unsigned first,
											 unsigned n) const
	{
		const uint64_t *from = words - threadIdx.x + total.first * blockDim.x + first * WARP_SIZE;
		Part part = *(const Part *) from;

		for (unsigned w = 1; w < n; w++)
			query_combine(part, *(const Part *) (from + w * WARP_SIZE), total.op);
		return part;
	}

	/* All threads: leaves the block's parts in scratch, and adds its sums of floats to it. */
	__device__ __forceinline__ void leave(QueryScratch *scratch) const
	{
		const GpuQueryPlan &plan = launch.plan;
		unsigned warps = blockDim.x / WARP_SIZE;

		for (uint32_t i = 0; i < plan.naggregates; i++)
		{
			const GpuQueryTotal &total = plan.totals[i];
			Part part = part_of(total);

			query_combine_warp(part, total.op);
			__syncwarp(FULL_MASK);
			if (FLOATS && sums_floats(total))
			{
				Floats &sum = floats[total.floats];

				if constexpr (SQUARES)
				{
					if (moments_of_floats(total))
						flush<Moments>(total);
					else
						flush<Bins>(total);
				}
				else
					flush<Bins>(total);
				if (lane_id() == 0)
				{
					split_add(&sum.word[WORD_COUNT], (int64_t) part.n);
					split_add(&sum.word[WORD_VALID], (int64_t) part.n);
				}
			}
			__syncwarp(FULL_MASK);
			/* into the warp's words of the count */
			if (lane_id() == 0)
				*(Part *) &word(total.first) = part;
		}
		__syncthreads();
		for (uint32_t i = threadIdx.x; i < plan.naggregates; i += blockDim.x)
			part_of_block(scratch, i, blockIdx.x) = of_warps(plan.totals[i], 0, warps);
		for (uint32_t i = 0; FLOATS && i < plan.nfloats; i++)
			for (unsigned k = threadIdx.x; k < WORDS; k += blockDim.x)
			{
				int64_t value = carried_word(floats[i].word, (int) k);

				if (value != 0)
					atomic_add(&scratch->float_words[i][blockIdx.x % QUERY_STRIPES][k],
							   (uint64_t) value);
			}
	}

	/* All threads: chunks of all sums of floats below the top ones into [0, 2^32). */
	__device__ __forceinline__ void carry() const
	{
		for (uint32_t i = (uint32_t) warp_id(); i < launch.plan.nfloats;
			 i += blockDim.x / WARP_SIZE)
		{
			propagate_chunks<WORD_SQUARE - WORD_CHUNK>(floats[i].word + WORD_CHUNK);
			if constexpr (SQUARES)
				propagate_chunks<RESULT_WORDS - WORD_SQUARE>(floats[i].word + WORD_SQUARE);
		}
	}

	/* All threads of the last block: makes the results of what all blocks left. */
	__device__ __forceinline__ void deliver(QueryScratch *scratch) const
	{
		const GpuQueryPlan &plan = launch.plan;
		unsigned warps = blockDim.x / WARP_SIZE;
		unsigned at_a_time = plan.naggregates < warps ? plan.naggregates : warps;
		unsigned share = at_a_time > 0 ? warps / at_a_time : 1; /* warps of an aggregate */

		for (uint32_t i = (uint32_t) warp_id() / share; i < plan.naggregates; i += at_a_time)
		{
			const GpuQueryTotal &total = plan.totals[i];
			Part part = {};

			for (unsigned b = (unsigned) warp_id() % share * WARP_SIZE + (unsigned) lane_id();
				 b < gridDim.x; b += share * WARP_SIZE)
				query_combine(part, part_of_block(scratch, i, b), total.op);
			query_combine_warp(part, total.op);
			if (lane_id() == 0)
				*(Part *) &word(total.first) = part;
			for (int k = INTEGER_WORDS + lane_id(); k < RESULT_WORDS; k += WARP_SIZE)
				((uint64_t *) &launch.results->of[i].reduced)[k] = k == WORD_SHAPE ? SHAPE_FULL : 0;
		}
		__syncthreads();
		for (uint32_t i = threadIdx.x; i < plan.naggregates; i += blockDim.x)
		{
			const GpuQueryTotal &total = plan.totals[i];
			GpuQueryResult &result = launch.results->of[i];
			Part part = of_warps(total, i % at_a_time * share, share);
			bool extreme = total.op == GPUAGG_MIN || total.op == GPUAGG_MAX;

			result.reduced.n = part.n;
			result.reduced.sum.lo = part.sum[0];
			result.reduced.sum.hi = (int64_t) part.sum[1];
			for (int k = 0; k < 3; k++)
				result.reduced.squares[k] = part.squares[k];
			result.high = extreme ? 0 : (int64_t) part.sum[2];
			for (int k = 0; k < 2; k++)
				result.more_squares[k] = SQUARES ? part.squares[SQUARES ? 3 + k : 0] : 0;
		}
		for (uint32_t i = 0; FLOATS && i < plan.nfloats; i++)
			for (unsigned k = threadIdx.x; k < WORDS; k += blockDim.x)
			{
				uint64_t value = 0;

				UNROLL
				for (int s = 0; s < QUERY_STRIPES; s++)
				{
					uint64_t *stripe = &scratch->float_words[i][s][k];
					uint64_t part = load_relaxed(stripe);

					value += part;
					if (part != 0)
						store_relaxed(stripe, (uint64_t) 0);
				}
				floats[i].word[k] = split_word((int64_t) value);
			}
		__syncthreads();
		if (FLOATS)
			carry();
		__syncthreads();
		for (uint32_t i = 0; FLOATS && i < plan.naggregates; i++)
		{
			const GpuQueryTotal &total = plan.totals[i];
			uint64_t *to = (uint64_t *) &launch.results->of[i].reduced;

			if (!sums_floats(total))
				continue;
			for (unsigned k = INTEGER_WORDS + threadIdx.x; k < WORDS; k += blockDim.x)
				if (k != WORD_SHAPE)
					to[k] = (uint64_t) split_value(floats[total.floats].word[k]);
		}
		if (threadIdx.x == 0)
		{
			launch.results->nflagged = load_relaxed(&scratch->nflagged);
			store_relaxed(&scratch->nflagged, (uint64_t) 0);
		}
	}
};

#endif /* GPUAGG_QUERY_TOTAL_CUH */
