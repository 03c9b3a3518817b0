/*
 * narrow.h
 *	  Blocks of column values in as few bytes a value as their range needs.
 *
 * A block holds the values of n rows, 0 to 2^24, of one type of vector.h: BOOL, INT16,
 * INT32, INT64, INT128, FLOAT32 or FLOAT64.  An integer is stored as its difference to the
 * block's base, an unsigned number of 1, 2, 4, 8 or 16 bytes, the narrowest that holds all.
 * What needs the type's own width is stored as it is, with base 0, and floats always are, so
 * vectors may point at such values; a BOOL is a bit, as in a vector.  Which rows are NULL is
 * kept elsewhere; they are stored as the base, as +0 or as false.
 *
 * A block is made in two passes: gpuagg_narrow_init, _add for all rows, _finish, and, in
 * memory of _bytes bytes that is aligned to 64, _write.  Where values come and go before all
 * are known, they may be stored by a form of _guess, as long as it _holds them; _move brings
 * them to the block's.  Functions read and write no bytes
 * but those of the rows, of bits no words but those that hold some of the rows'.  Values
 * and bitmaps are aligned as C asks for their types.  A bitmap `valid` begins at the first of
 * the values and has a bit set where one is not NULL; where it is NULL itself, no row is.
 */
#ifndef GPUAGG_NARROW_H
#define GPUAGG_NARROW_H

#include <assert.h>
#include <stdbool.h>
#include <stdint.h>

#include "common/int128.h"

typedef struct GpuaggNarrow
{
	uint8_t type;	  /* GpuaggVectorType */
	uint8_t width;	  /* bytes of a stored value; BOOL: 0 */
	uint8_t any;	  /* some row is not NULL */
	uint8_t spare[5]; /* 0 */
	GpuaggInt128 base;

	/*
	 * Of the rows that are not NULL; 0 if there is none.  Integers are sign-extended, BOOL is
	 * 0 or 1; of floats these are the bits, in `lo`: by SQL's order, with -0 before +0, and
	 * the canonical NaN for any.
	 */
	GpuaggInt128 minimum;
	GpuaggInt128 maximum;
} GpuaggNarrow;

static_assert(sizeof(GpuaggNarrow) == 56, "size of GpuaggNarrow");

/* Makes it describe no rows. */
extern void gpuagg_narrow_init(GpuaggNarrow *narrow, int type);

/* Widens minimum and maximum by n rows. */
extern void gpuagg_narrow_add(GpuaggNarrow *narrow, const void *values, const uint64_t *valid,
							  uint32_t n);

/* Sets base and width. */
extern void gpuagg_narrow_finish(GpuaggNarrow *narrow);

/*
 * Sets base and width so that values beside the range fit, too; width is not below `least` (1, 2,
 * 4, 8, 16).  The base may be one that the type does not have.
 */
extern void gpuagg_narrow_guess(GpuaggNarrow *narrow, uint8_t least);

/* Whether values of the range of `rows` can be stored by the base and width of `narrow`. */
extern bool gpuagg_narrow_holds(const GpuaggNarrow *narrow, const GpuaggNarrow *rows);

/* Bytes of the stored values of n rows, a multiple of 64. */
extern uint64_t gpuagg_narrow_bytes(const GpuaggNarrow *narrow, uint64_t n);

/* Stores n values as the block's rows from `first` on; those not NULL have been added before. */
extern void gpuagg_narrow_write(const GpuaggNarrow *narrow, void *stored, uint64_t first,
								const void *values, const uint64_t *valid, uint32_t n);

/* Gives the block's rows first to first + n - 1 as values `to` to to + n - 1 of a vector. */
extern void gpuagg_narrow_read(const GpuaggNarrow *narrow, const void *stored, uint64_t first,
							   uint32_t n, void *values, uint32_t to);

/*
 * Stores n rows of another block of the type, from its row from_first on, as the block's rows from
 * `first` on.  Those not NULL have been added to both; `valid` as for write.
 */
extern void gpuagg_narrow_move(const GpuaggNarrow *narrow, void *stored, uint64_t first,
							   const GpuaggNarrow *from, const void *from_stored,
							   uint64_t from_first, const uint64_t *valid, uint32_t n);

/* Copies n bits between bitmaps that do not overlap; other bits of the target stay. */
extern void gpuagg_bits_copy(uint64_t *to, uint64_t to_first, const uint64_t *from,
							 uint64_t from_first, uint64_t n);

/* Sets n bits. */
extern void gpuagg_bits_set(uint64_t *bits, uint64_t first, uint64_t n);

/* Number of bits set among n. */
extern uint64_t gpuagg_bits_count(const uint64_t *bits, uint64_t first, uint64_t n);

#endif /* GPUAGG_NARROW_H */
