/*
 * decimal_limbs.c
 *	  Signed decimal numbers of any length, to which numbers and squares are added.
 */
#include "common/decimal_limbs.h"

#define LIMB	 ((int64_t) GPUAGG_LIMB)
#define MAX_LOAD (1u << 19)

typedef __int128 int128_t;

/* The limb that has the group of this weight: weight / 4, rounded down. */
static inline int
limb_of(int weight)
{
	return weight >= 0 ? weight / GPUAGG_LIMB_GROUPS
					   : -((GPUAGG_LIMB_GROUPS - 1 - weight) / GPUAGG_LIMB_GROUPS);
}

void
gpuagg_limbs_free(const GpuaggMemory *memory, GpuaggLimbs *limbs)
{
	if (limbs->limb != NULL)
		memory->resize(memory->owner, limbs->limb, 0);
	memset(limbs, 0, sizeof(*limbs));
}

void
gpuagg_limbs_reserve(const GpuaggMemory *memory, GpuaggLimbs *limbs, int first, int last)
{
	GpuaggInt128 *old = limbs->limb;
	GpuaggInt128 *new;
	int width;

	if (limbs->width > 0)
	{
		int top = limbs->first + limbs->width - 1;

		if (first >= limbs->first && last <= top)
			return;
		if (limbs->first < first)
			first = limbs->first;
		if (top > last)
			last = top;
	}
	width = last - first + 2;
	new = memory->resize(memory->owner, NULL, width * sizeof(GpuaggInt128));
	memset(new, 0, width * sizeof(GpuaggInt128));
	if (limbs->width > 0)
		memcpy(new + (limbs->first - first), old, limbs->width * sizeof(GpuaggInt128));
	if (old != NULL)
		memory->resize(memory->owner, old, 0);
	limbs->limb = new;
	limbs->first = first;
	limbs->width = width;
}

void
gpuagg_limbs_propagate(const GpuaggMemory *memory, GpuaggLimbs *limbs)
{
	int128_t carry = 0;

	for (int i = 0; i < limbs->width; i++)
	{
		int128_t v = gpuagg_int128_wide(limbs->limb[i]) + carry;

		carry = 0;
		if (v < 0 || v >= LIMB)
		{
			int top = i == limbs->width - 1;

			if (!top || v >= LIMB || v <= -LIMB)
			{
				carry = v / LIMB;
				v -= carry * LIMB;
				if (v < 0)
				{
					v += LIMB;
					carry--;
				}
			}
			if (top && carry != 0)
				gpuagg_limbs_reserve(memory, limbs, limbs->first, limbs->first + limbs->width);
		}
		limbs->limb[i] = gpuagg_int128_narrow(v);
	}
	limbs->load = 0;
}

/* Propagates carries if the limbs cannot take so much more load. */
static inline void
limbs_load(const GpuaggMemory *memory, GpuaggLimbs *limbs, uint32_t load)
{
	if (limbs->load + load > MAX_LOAD)
		gpuagg_limbs_propagate(memory, limbs);
	limbs->load += load;
}

static inline void
limb_add(GpuaggLimbs *limbs, int place, int128_t v)
{
	GpuaggInt128 *limb = &limbs->limb[place - limbs->first];

	*limb = gpuagg_int128_add(*limb, gpuagg_int128_narrow(v));
}

/*
 * The next limb of x, starting with the most significant one, from its digits from *i on.
 * `left`: the limb has so many groups of digits, from the first of these down.
 */
static inline uint64_t
next_limb(const GpuaggDecimal *x, int *i, int left)
{
	uint64_t v = 0;

	for (; left > 0 && *i < x->ndigits; left--)
		v = v * GPUAGG_DECIMAL_BASE + gpuagg_decimal_digit(x, (*i)++);
	return v * gpuagg_decimal_power(left);
}

int
gpuagg_limbs_of(const GpuaggDecimal *x, uint64_t *limb, int *first)
{
	int last = limb_of(x->weight);
	int left = x->weight - last * GPUAGG_LIMB_GROUPS + 1;
	int i = 0;

	*first = limb_of(x->weight - x->ndigits + 1);
	for (int place = last - *first; place >= 0; place--)
	{
		limb[place] = next_limb(x, &i, left);
		left = GPUAGG_LIMB_GROUPS;
	}
	return last - *first + 1;
}

void
gpuagg_limbs_add_decimal(const GpuaggMemory *memory, GpuaggLimbs *limbs, const GpuaggDecimal *x,
						 int sign)
{
	int first = limb_of(x->weight - x->ndigits + 1);
	int place = limb_of(x->weight);
	int left = x->weight - place * GPUAGG_LIMB_GROUPS + 1;
	int i = 0;

	gpuagg_limbs_reserve(memory, limbs, first, place);
	limbs_load(memory, limbs, 1);
	for (; place >= first; place--)
	{
		int64_t v = (int64_t) next_limb(x, &i, left);

		limb_add(limbs, place, (sign < 0) != x->negative ? -v : v);
		left = GPUAGG_LIMB_GROUPS;
	}
}

/* Adds the square of the number with these limbs. */
void
gpuagg_limbs_add_square(const GpuaggMemory *memory, GpuaggLimbs *limbs, const uint64_t *limb,
						int first, int width, int sign)
{
	gpuagg_limbs_reserve(memory, limbs, 2 * first, 2 * (first + width - 1));
	limbs_load(memory, limbs, (uint32_t) width);
	for (int place = 0; place <= 2 * (width - 1); place++)
	{
		int128_t sum = 0;
		int i = place < width ? 0 : place - width + 1;

		for (; 2 * i < place; i++)
			sum += (int128_t) limb[i] * limb[place - i];
		sum *= 2;
		if (2 * i == place)
			sum += (int128_t) limb[i] * limb[i];
		limb_add(limbs, 2 * first + place, sign * sum);
	}
}

void
gpuagg_limbs_merge(const GpuaggMemory *memory, GpuaggLimbs *into, const GpuaggLimbs *from)
{
	if (from->width == 0)
		return;
	gpuagg_limbs_reserve(memory, into, from->first, from->first + from->width - 1);
	limbs_load(memory, into, 1);
	for (int i = 0; i < from->width; i++)
		limb_add(into, from->first + i, gpuagg_int128_wide(from->limb[i]));
}

GpuaggDecimal
gpuagg_decimal_trimmed(const uint16_t *digits, int ndigits, int weight, int negative)
{
	GpuaggDecimal x;

	while (ndigits > 0 && *digits == 0)
	{
		digits++;
		ndigits--;
		weight--;
	}
	while (ndigits > 0 && digits[ndigits - 1] == 0)
		ndigits--;
	x.digits = (const char *) digits;
	x.ndigits = ndigits;
	x.weight = ndigits > 0 ? weight : 0;
	x.scale = 0;
	x.negative = ndigits > 0 && negative;
	return x;
}

GpuaggDecimal
gpuagg_limbs_decimal(const GpuaggLimbs *limbs, uint16_t *room)
{
	int negative = gpuagg_limbs_negative(limbs);
	int ndigits = limbs->width * GPUAGG_LIMB_GROUPS;
	uint16_t *next = room + ndigits;
	int borrow = 0;

	for (int i = 0; i < limbs->width; i++)
	{
		uint64_t limb = gpuagg_limb_magnitude(limbs, i, negative, &borrow);

		for (int j = 0; j < GPUAGG_LIMB_GROUPS; j++)
		{
			*--next = (uint16_t) (limb % GPUAGG_DECIMAL_BASE);
			limb /= GPUAGG_DECIMAL_BASE;
		}
	}
	return gpuagg_decimal_trimmed(room, ndigits,
								  (limbs->first + limbs->width) * GPUAGG_LIMB_GROUPS - 1, negative);
}
