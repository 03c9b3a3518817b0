/*
 * postgres.h
 *	  What the CPU engine uses of PostgreSQL, so that it can be tested on its own.
 */
#ifndef TEST_POSTGRES_H
#define TEST_POSTGRES_H

#include <assert.h>
#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

typedef uint8_t uint8;
typedef int32_t int32;
typedef uint32_t uint32;
typedef int64_t int64;
typedef uint64_t uint64;
typedef size_t Size;

#define PG_INT32_MIN						 INT32_MIN
#define PG_INT32_MAX						 INT32_MAX
#define PG_INT64_MIN						 INT64_MIN
#define PG_INT64_MAX						 INT64_MAX
#define UINT64CONST(x)						 UINT64_C(x)
#define INT64CONST(x)						 INT64_C(x)

#define Min(x, y)							 ((x) < (y) ? (x) : (y))
#define Max(x, y)							 ((x) > (y) ? (x) : (y))
#define Assert(condition)					 assert(condition)
#define StaticAssertDecl(condition, message) static_assert(condition, message)
#define pg_attribute_always_inline			 __attribute__((always_inline)) inline
#define pg_unreachable()					 __builtin_unreachable()

#endif /* TEST_POSTGRES_H */
