/*
 * pg_bitutils.h
 *	  Bits of a word, counted.
 */
#define pg_popcount64(word) __builtin_popcountll(word)
