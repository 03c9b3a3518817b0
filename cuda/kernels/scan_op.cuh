/*
 * scan_op.cuh
 *	  The operator of scans but of sums of floats: the element's, with heads and
 *	  whether there was a valid row; and how scans end.
 */
#ifndef GPUAGG_SCAN_OP_CUH
#define GPUAGG_SCAN_OP_CUH

#include "kernels/scan_element.cuh"
#include "kernels/scan.cuh"

/* What a kernel delivers. */
enum Mode
{
	PLAIN,	 /* a result a row; no bitmaps, no status */
	MARKED,	 /* a result a row */
	SEGMENTS /* a result a segment */
};

/* The operator of element type E: (value, head) pairs, and whether there was a valid row. */
template <class E, Mode MODE> struct ScanOp
{
	typedef typename E::Acc Acc;

	struct State
	{
		Acc value;
		uint32_t seen;
		uint32_t heads; /* MARKED: whether any; SEGMENTS: how many, modulo 2^32 */
	};

	/* 64 bits of the value; then, from bit 0: 17 bits of heads, seen, 14 bits of the value */
	struct Packed
	{
		uint32_t word[3];
	};

	static __device__ __forceinline__ State identity()
	{
		return {E::identity(), 0, 0};
	}

	static __device__ __forceinline__ State combine(State a, State b)
	{
		State s;

		s.value = b.heads ? b.value : E::apply(a.value, b.value);
		s.seen = b.heads ? b.seen : a.seen | b.seen;
		s.heads = MODE == SEGMENTS ? a.heads + b.heads : a.heads | b.heads;
		return s;
	}

	static __device__ __forceinline__ Packed pack(State s)
	{
		uint64_t low = E::low(s.value);

		return {{(uint32_t) low, (uint32_t) (low >> 32),
				 s.heads | s.seen << 17 | (uint32_t) E::high(s.value) << 18}};
	}

	static __device__ __forceinline__ State unpack(Packed p)
	{
		State s;

		s.value = E::joined(p.word[0] | (uint64_t) p.word[1] << 32, (int32_t) p.word[2] >> 18);
		s.seen = p.word[2] >> 17 & 1;
		s.heads = p.word[2] & 0x1ffff;
		return s;
	}
};

/* Without marks: the value alone. */
template <class E> struct ScanOp<E, PLAIN>
{
	typedef typename E::Acc Acc;

	struct State
	{
		Acc value;
	};

	struct Packed
	{
		uint32_t word[3];
	};

	static __device__ __forceinline__ State identity()
	{
		return {E::identity()};
	}

	static __device__ __forceinline__ State combine(State a, State b)
	{
		return {E::apply(a.value, b.value)};
	}

	static __device__ __forceinline__ Packed pack(State s)
	{
		uint64_t low = E::low(s.value);

		return {{(uint32_t) low, (uint32_t) (low >> 32), (uint32_t) E::high(s.value)}};
	}

	static __device__ __forceinline__ State unpack(Packed p)
	{
		return {E::joined(p.word[0] | (uint64_t) p.word[1] << 32, (int32_t) p.word[2])};
	}
};

/*
 * Whether there was a valid row, at the end of a column without bitmaps.  The block
 * of the last tile calls; without rows no other block reads state_in.
 */
static __device__ __forceinline__ bool
scan_plain_seen(const ScanColumn &column)
{
	return column.nrows > 0 ||
		   (column.state_in != nullptr && column.state_in->state.f.counts.n > 0);
}

/* One warp, with the total: the final state, but for what blocks report. */
template <class E>
static __device__ inline void
scan_write_state(const ScanColumn &column, typename E::Acc value, bool seen)
{
	GpuScanState *out = column.state_out;

	if (out == nullptr)
		return;
	for (int i = lane_id(); i < GPUAGG_CHUNKS; i += WARP_SIZE)
		out->state.f.chunk[i] = 0;
	if (lane_id() == 0)
	{
		GpuaggFloatSumFull *f = &out->state.f;

		out->state.sum = seen ? E::to_carry(value, column) : gpuagg_int128_from(0);
		f->counts = {seen, 0, 0, 0, 0};
		f->deposits = 0;
		f->base = 0;
		f->width = GPUAGG_CHUNKS;
	}
}

/* One thread of every block, after the block's last access to scratch. */
template <class Op>
static __device__ inline void
scan_close(const ScanColumn &column, const LookBack<Op> &look, uint32_t ntiles, bool over)
{
	bool reports[LOOKBACK_REPORTS];

	if (over)
		look.report(REPORT_OVERFLOW);
	if (look.close(ntiles, reports) && column.state_out != nullptr)
	{
		column.state_out->out_of_window = 0;
		column.state_out->overflows = reports[REPORT_OVERFLOW];
	}
}

/* Tiles of ROWS rows; a column without rows has one, for its state. */
static inline uint32_t
tiles_of(uint64_t nrows, uint64_t rows)
{
	return nrows == 0 ? 1 : (uint32_t) divide_up(nrows, rows);
}

#endif /* GPUAGG_SCAN_OP_CUH */
