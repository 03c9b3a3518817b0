/*
 * pg_bitutils.h
 *	  Bits of a word, counted.
 */
#define pg_popcount64(word)			 __builtin_popcountll(word)
#define pg_rightmost_one_pos64(word) __builtin_ctzll(word)
