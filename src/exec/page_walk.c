/*
 * page_walk.c
 *	  Finds where tuples have the columns whose place differs among them.
 *
 * Goes attribute by attribute over all tuples, which do not wait for one another,
 * four at a time where the processor has instructions for that (AVX2).  Arrays may be
 * written up to a multiple of four.
 */
#include "exec/page_scan.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

/* The end of a tuple header, which has all that tells of its columns. */
typedef union HeaderEnd
{
	struct
	{
		uint16 line;
		uint16 infomask2;
		uint16 infomask;
		uint8 hoff;
		uint8 bits;
	} field;
	uint64 word;
} HeaderEnd;

#define HEADER_END (offsetof(HeapTupleHeaderData, t_ctid) + offsetof(ItemPointerData, ip_posid))

StaticAssertDecl(offsetof(HeapTupleHeaderData, t_infomask) ==
						 HEADER_END + offsetof(HeaderEnd, field.infomask) &&
					 offsetof(HeapTupleHeaderData, t_hoff) ==
						 HEADER_END + offsetof(HeaderEnd, field.hoff),
				 "HeaderEnd is the end of a tuple header");

void
gpuagg_page_examine(PageSegment *segment)
{
	HeaderEnd any = {.word = 0};
	HeaderEnd all = {.word = ~UINT64CONST(0)};
	uint64 word;

	if (segment->stride != 0)
	{
		const char *tuple = segment->first + HEADER_END;

		for (int i = 0; i < segment->nrows; i++, tuple -= segment->stride)
		{
			memcpy(&word, tuple, sizeof(word));
			any.word |= word;
			all.word &= word;
		}
	}
	else
		for (int i = 0; i < segment->nrows; i++)
		{
			memcpy(&word, gpuagg_page_tuple(segment, i) + HEADER_END, sizeof(word));
			any.word |= word;
			all.word &= word;
		}
	segment->uniform = (any.field.infomask & HEAP_HASNULL) == 0 &&
					   any.field.hoff == all.field.hoff &&
					   ((any.field.infomask2 ^ all.field.infomask2) & HEAP_NATTS_MASK) == 0;
	segment->natts = all.field.infomask2 & HEAP_NATTS_MASK;
	segment->hoff = all.field.hoff;
	segment->examined = true;
}

/* Several tuples at a time. */
typedef uint64 Places __attribute__((vector_size(32), aligned(8), may_alias));
typedef uint16 Shorts __attribute__((vector_size(8), aligned(2), may_alias));

#define PLACES	  ((int) (sizeof(Places) / sizeof(uint64)))
#define ALL_LANES ((1 << PLACES) - 1)

#if defined(__x86_64__)
#define WIDE __attribute__((target("avx2")))

static inline bool
has_wide(void)
{
	return __builtin_cpu_supports("avx2");
}

/* The lanes whose highest bit is set, as those of a comparison that is true. */
static WIDE inline int
lanes(Places of)
{
	return _mm256_movemask_pd((__m256d) of);
}
#endif

/* ---- tuples ---- */

#if defined(__x86_64__)
/* Those of consecutive rows. */
static WIDE void
list_wide(const PageSegment *segment, int first, int n, const char **tuples)
{
	const Places lane = {0, 1, 2, 3};
	uint64 stride = segment->stride;
	Places tuple = (uint64) segment->first - (first + lane) * stride;

	if (stride != 0)
		for (int k = 0; k < n; k += PLACES, tuple -= PLACES * stride)
			*(Places *) (tuples + k) = tuple;
	else
		for (int k = 0; k < n; k += PLACES)
			*(Places *) (tuples + k) =
				(uint64) segment->page +
				__builtin_convertvector(*(const Shorts *) (segment->offsets + first + k), Places);
}
#endif

void
gpuagg_page_list_tuples(const PageSegment *segment, const uint16 *rows, int n, const char **tuples)
{
	PageSegment local = *segment;

#if defined(__x86_64__)
	if (has_wide() && rows[n - 1] - rows[0] == n - 1)
	{
		list_wide(segment, rows[0] - segment->begin, n, tuples);
		return;
	}
#endif
	for (int k = 0; k < n; k++)
		tuples[k] = gpuagg_page_tuple(&local, rows[k] - local.begin);
}

/* ---- which attributes are there ---- */

/* Attributes begin to begin + 63 of one tuple that are stored and not NULL. */
static uint64
present_in(HeapTupleHeader header, int begin)
{
	int natts = HeapTupleHeaderGetNatts(header) - begin;
	uint64 present = natts >= 64 ? ~UINT64CONST(0) : natts > 0 ? (UINT64CONST(1) << natts) - 1 : 0;
	uint64 bits = 0;

	if ((header->t_infomask & HEAP_HASNULL) == 0)
		return present;
	for (int i = 0; i * BITS_PER_BYTE < Min(natts, 64); i++)
		bits |= (uint64) header->t_bits[begin / BITS_PER_BYTE + i] << (i * BITS_PER_BYTE);
	return present & bits;
}

/* The same of tuple k of scan->tuples, into scan->present; scan->at: its first attribute. */
static uint64
find_one(PageScan *scan, int begin, int k)
{
	const char *tuple = scan->tuples[k];

	if (begin == 0)
		scan->at[k] = tuple + ((HeapTupleHeader) tuple)->t_hoff;
	scan->present[k] = present_in((HeapTupleHeader) tuple, begin);
	return scan->present[k];
}

#if defined(__x86_64__)
static inline uint64
header_end(uint64 tuple)
{
	uint64 word;

	memcpy(&word, (const char *) tuple + HEADER_END, sizeof(word));
	return word;
}

/* The same of four; where they have few attributes or no NULLs. */
static WIDE bool
find_four(PageScan *scan, int k, Places *all)
{
	Places tuple = *(const Places *) (scan->tuples + k);
	Places end;
	Places natts;
	Places nulls;
	Places present;

	end = (Places){header_end(tuple[0]), header_end(tuple[1]), header_end(tuple[2]),
				   header_end(tuple[3])};
	natts = end >> 16 & HEAP_NATTS_MASK;
	nulls = -(end >> 32 & HEAP_HASNULL);
	if (lanes((Places) (natts <= ((nulls & BITS_PER_BYTE) | (~nulls & 63)))) != ALL_LANES)
		return false;
	present = (((Places){1, 1, 1, 1} << natts) - 1) & (end >> 56 | ~nulls);
	*(Places *) (scan->present + k) = present;
	*(Places *) (scan->at + k) = tuple + (end >> 48 & 0xff);
	*all &= present;
	return true;
}

static WIDE uint64
find_wide(PageScan *scan, int n)
{
	Places all = ~(Places){0};
	uint64 rest = ~UINT64CONST(0);
	int k = 0;

	for (; k + PLACES <= n; k += PLACES)
		if (!find_four(scan, k, &all))
			for (int i = 0; i < PLACES; i++)
				rest &= find_one(scan, 0, k + i);
	for (; k < n; k++)
		rest &= find_one(scan, 0, k);
	return all[0] & all[1] & all[2] & all[3] & rest;
}
#endif

/* The same of n of scan->tuples.  Returns those attributes that all of them have. */
static uint64
find_present(PageScan *scan, int begin, int n)
{
	uint64 all = ~UINT64CONST(0);

#if defined(__x86_64__)
	if (begin == 0 && has_wide())
		return find_wide(scan, n);
#endif
	for (int k = 0; k < n; k++)
		all &= find_one(scan, begin, k);
	return all;
}

/* ---- steps ---- */

/*
 * A step goes over one attribute of n tuples: from scan->at, where the attribute before it
 * ended, to where it ends.  found: where its value is, NULL where it is not present; or
 * NULL.  all: it is present everywhere.
 */
static pg_attribute_always_inline void
step_fixed_loop(PageScan *scan, int a, const char **found, int n, bool all)
{
	uint64 align = scan->attributes[a].align - 1;
	uint64 length = scan->attributes[a].length;

	for (int k = 0; k < n; k += PLACES)
	{
		Places at = *(const Places *) (scan->at + k);
		Places value = (at + align) & ~align;
		Places end = value + length;

		if (!all)
		{
			Places present = -(*(const Places *) (scan->present + k) >> (a % 64) & 1);

			value &= present;
			end = (end & present) | (at & ~present);
		}
		if (found != NULL)
			*(Places *) (found + k) = value;
		*(Places *) (scan->at + k) = end;
	}
}

/* Of varying length, one tuple. */
static pg_attribute_always_inline void
step_one(PageScan *scan, int a, const char **found, int k, bool all)
{
	const PageAttribute *attribute = &scan->attributes[a];
	const char *value = scan->at[k];

	if (!all && (scan->present[k] >> (a % 64) & 1) == 0)
		value = NULL;
	else
	{
		value = gpuagg_page_align(attribute, value);
		scan->at[k] = value + gpuagg_page_length(attribute, value);
	}
	if (found != NULL)
		found[k] = value;
}

static pg_attribute_always_inline void
step_varying_loop(PageScan *scan, int a, const char **found, int n, bool all)
{
	for (int k = 0; k < n; k++)
		step_one(scan, a, found, k, all);
}

#if defined(__x86_64__)
/* Varlenas, of which those with a short header are done by vectors. */
static pg_attribute_always_inline WIDE void
step_varlena_loop(PageScan *scan, int a, const char **found, int n, bool all)
{
	static const uint8 empty = 3; /* the header of one without content */
	int k = 0;

	for (; k + PLACES <= n; k += PLACES)
	{
		Places at = *(const Places *) (scan->at + k);
		Places present = ~(Places){0};
		Places value = at;
		Places header;

		if (!all)
		{
			present = -(*(const Places *) (scan->present + k) >> (a % 64) & 1);
			value = (at & present) | ((uint64) &empty & ~present);
		}
		header = (Places){*(const uint8 *) value[0], *(const uint8 *) value[1],
						  *(const uint8 *) value[2], *(const uint8 *) value[3]};
		if (unlikely(lanes((header << 63) & (Places) (header != 1)) != ALL_LANES))
		{
			for (int i = 0; i < PLACES; i++)
				step_one(scan, a, found, k + i, all);
			continue;
		}
		if (found != NULL)
			*(Places *) (found + k) = value & present;
		*(Places *) (scan->at + k) = at + ((header >> 1) & present);
	}
	for (; k < n; k++)
		step_one(scan, a, found, k, all);
}
#endif

/* Loops for each case, as what is known of all tuples is not looked at for each. */
#define STEP(Loop, Attributes)                                                              \
	static Attributes void Loop(PageScan *scan, int a, const char **found, int n, bool all) \
	{                                                                                       \
		if (all)                                                                            \
			found != NULL ? Loop##_loop(scan, a, found, n, true)                            \
						  : Loop##_loop(scan, a, NULL, n, true);                            \
		else                                                                                \
			found != NULL ? Loop##_loop(scan, a, found, n, false)                           \
						  : Loop##_loop(scan, a, NULL, n, false);                           \
	}

STEP(step_fixed, )
STEP(step_varying, )
#if defined(__x86_64__)
#define step_fixed_wide_loop step_fixed_loop
STEP(step_fixed_wide, WIDE)
STEP(step_varlena, WIDE)
#endif

static void
step(PageScan *scan, int a, const char **found, int n, bool all)
{
	int length = scan->attributes[a].length;

#if defined(__x86_64__)
	if (has_wide() && length >= -1)
	{
		length > 0 ? step_fixed_wide(scan, a, found, n, all) : step_varlena(scan, a, found, n, all);
		return;
	}
#endif
	length > 0 ? step_fixed(scan, a, found, n, all) : step_varying(scan, a, found, n, all);
}

/* ---- walking ---- */

void
gpuagg_page_walk(PageScan *scan, int n)
{
	uint64 all = find_present(scan, 0, n);
	int a = all == ~UINT64CONST(0) ? 64 : __builtin_ctzll(~all);
	Size begin = 0;

	gpuagg_page_prefetch(scan->following, PREFETCH_LINES);

	/* The first attributes, if they are present everywhere, have fixed offsets. */
	a = Min(a, Min(scan->nfixed, scan->columns[scan->walked[0]].column.attno) - 1);
	if (a > 0)
		begin = scan->attributes[a - 1].offset + scan->attributes[a - 1].length;
	for (int k = 0; k < n && begin > 0; k++)
		scan->at[k] += begin;
	for (int i = 0; i < scan->nwalked; i++)
	{
		const PageColumnState *state = &scan->columns[scan->walked[i]];
		const char **found = scan->places[i];
		int target = state->column.attno - 1;

		if (a > target && i > 0)
		{
			/* the same attribute in another form */
			memcpy(found, scan->places[i - 1], n * sizeof(*found));
			scan->may_be_null[i] = scan->may_be_null[i - 1];
			continue;
		}
		for (; a <= target; a++)
		{
			if (a % 64 == 0 && a > 0)
				all = find_present(scan, a, n);
			step(scan, a, a == target ? found : NULL, n, (all >> (a % 64) & 1) != 0);
			gpuagg_page_prefetch(scan->following, PREFETCH_LINES);
		}
		scan->may_be_null[i] = (all >> (target % 64) & 1) == 0;
		if (scan->may_be_null[i] && state->missing != NULL)
			for (int k = 0; k < n; k++)
				if (target >= HeapTupleHeaderGetNatts((HeapTupleHeader) scan->tuples[k]))
					found[k] = state->missing;
	}
}


/* ---- NULLs ---- */

static pg_attribute_always_inline uint64
null_bits(const char *const *found, int n)
{
	uint64 nulls = 0;

	for (int i = 0; i < n; i++)
		nulls |= (uint64) (found[i] == NULL) << i;
	return nulls;
}

#if defined(__x86_64__)
static WIDE uint64
null_bits_wide(const char *const *found)
{
	uint64 nulls = 0;

	for (int i = 0; i < 64; i += PLACES)
		nulls |= (uint64) lanes((Places) (*(const Places *) (found + i) == 0)) << i;
	return nulls;
}
#endif

bool
gpuagg_page_mark_nulls(uint64 *valid, const char *const *found, const uint16 *rows, int n)
{
	bool consecutive = rows[n - 1] - rows[0] == n - 1;
	uint64 any = 0;

	for (int k = 0; k < n; k += 64)
	{
		int some = Min(n - k, 64);
		uint64 nulls;

#if defined(__x86_64__)
		if (some == 64 && has_wide())
			nulls = null_bits_wide(found + k);
		else
#endif
			nulls = null_bits(found + k, some);
		any |= nulls;
		if (!consecutive)
			for (; nulls != 0; nulls &= nulls - 1)
			{
				int row = rows[k + __builtin_ctzll(nulls)];

				valid[row / 64] &= ~(UINT64CONST(1) << row % 64);
			}
		else if (nulls != 0)
		{
			int row = rows[k];

			valid[row / 64] &= ~(nulls << row % 64);
			if (row % 64 != 0 && nulls >> (64 - row % 64) != 0)
				valid[row / 64 + 1] &= ~(nulls >> (64 - row % 64));
		}
	}
	return any != 0;
}
