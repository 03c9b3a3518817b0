"""families.py: seeded columns of floats, each family hard in its own way.

A family takes a random generator, a format and a number of rows, and returns
that many values, all representable in the format.
"""
import math


def value(rng, form, low, high):
    """A random value of full precision with an exponent between low and high."""
    exponent = rng.randint(low, high)
    bits = rng.getrandbits(form.precision - 1) | 1 << (form.precision - 1)
    shift = exponent - form.precision
    if shift < form.low:
        bits >>= form.low - shift
        shift = form.low
    return math.ldexp(bits, shift) * rng.choice((1, -1))


def fill(values, rng, form, n):
    """Adds pairs that cancel until there are n values (or n - 1 and a zero), in random order."""
    while len(values) + 2 <= n:
        x = value(rng, form, form.low + 60, form.high - 2)
        values += [x, -x]
    if len(values) < n:
        values.append(0.0)
    rng.shuffle(values)
    return values[:n]


def uniform(rng, form, n):
    return [math.ldexp(rng.getrandbits(form.precision - 1), 1 - form.precision) for _ in range(n)]


def signed(rng, form, n):
    return [value(rng, form, -3, 3) for _ in range(n)]


def wide(rng, form, n):
    room = n.bit_length() + 1
    return [value(rng, form, form.low + 1, form.high - room) for _ in range(n)]


def moderate(rng, form, n):
    return [value(rng, form, -40, 40) for _ in range(n)]


def cancelling(rng, form, n):
    return fill([value(rng, form, -20, 0) for _ in range(min(n, 3))], rng, form, n)


def vanishing(rng, form, n):
    return fill([], rng, form, n)


def subnormal(rng, form, n):
    return [math.ldexp(rng.getrandbits(form.precision - 2), form.low) * rng.choice((1, -1))
            for _ in range(n)]


def around_smallest_normal(rng, form, n):
    least = form.low + form.precision
    return [value(rng, form, least - 3, least + 2) for _ in range(n)]


def near_overflow(rng, form, n):
    """Intermediate sums are far out of range, the whole sum is not."""
    big = [math.ldexp(rng.choice((1, -1)) * form.top, -rng.randint(0, 1)) for _ in range(n // 2)]
    values = big + [-x for x in big]
    if len(values) < n:
        values.append(value(rng, form, 0, form.high - 1))
    if rng.random() < 0.5:
        rng.shuffle(values)
    return values


def overflow(rng, form, n):
    values = [form.top, form.top] + [value(rng, form, -20, 20) for _ in range(n - 2)]
    rng.shuffle(values)
    sign = rng.choice((1, -1))
    return [sign * x for x in values][:max(n, 0)]


def largest(rng, form, n):
    """At the edge of the range: the largest value, and about half a last place more."""
    half = form.high - form.precision - 1
    more = rng.choice(([math.ldexp(1, half)],
                       [math.ldexp(1, half), -math.ldexp(1, form.low)],
                       [math.ldexp(1, half), math.ldexp(1, form.low)],
                       [math.ldexp(1, half - 1), math.ldexp(1, half - 1)],
                       [-math.ldexp(1, half)]))
    sign = rng.choice((1, -1))
    return fill([sign * x for x in [form.top] + more], rng, form, n)


def negative_zeros(rng, form, n):
    return [-0.0] * n


def zeros(rng, form, n):
    return [rng.choice((0.0, -0.0)) for _ in range(n)]


def nans(rng, form, n):
    return [math.nan if rng.random() < 0.2 else x for x in moderate(rng, form, n)]


def infinities(rng, form, n):
    signs = rng.choice(((1,), (-1,), (1, -1)))
    return [math.inf * rng.choice(signs) if rng.random() < 0.1 else x
            for x in moderate(rng, form, n)]


def sentinel(rng, form, n):
    """One value so large that naive addition loses all others; sometimes subtracted again."""
    values = uniform(rng, form, n)
    large = math.ldexp(1, form.high - 28)
    if n:
        values[rng.randrange(n)] = large
    if n > 1 and rng.random() < 0.5:
        values[(values.index(large) + rng.randint(1, n - 1)) % n] = -large
    return values


def growing(rng, form, n):
    span = form.high - form.low - form.precision - 20
    return [math.ldexp(rng.choice((1, 1, -1)), form.low + i * span // max(n, 1)) for i in range(n)]


def shrinking(rng, form, n):
    return growing(rng, form, n)[::-1]


def tie(rng, form, n):
    """Exactly between two values, or the smallest possible amount beside it."""
    place = rng.randint(form.low + form.precision + 2, form.high - 4)
    head = math.ldexp(rng.getrandbits(form.precision - 1) | 1 << (form.precision - 1),
                      place - form.precision)
    half = math.ldexp(1, place - form.precision - 1)
    beside = rng.choice(([], [math.ldexp(1, form.low)], [-math.ldexp(1, form.low)]))
    sign = rng.choice((1, -1))
    return fill([sign * x for x in [head, half] + beside], rng, form, n)


def carries(rng, form, n):
    """Long runs of ones: a small value carries through all of them."""
    values = []
    for i in range(min(n - 1, 30)):
        values.append(math.ldexp(2 ** form.precision - 1, i * form.precision + form.low))
    values = [x for x in values if x < math.ldexp(1, form.high - 8)]
    values.append(math.ldexp(1, form.low))
    return fill(values[-n:] if n else [], rng, form, n)


def integers(rng, form, n):
    return [float(rng.randint(-1000, 1000)) for _ in range(n)]


def same(rng, form, n):
    return [value(rng, form, -10, 10)] * n


def bits(rng, form, n):
    """Any finite pattern of bits; the sum may be out of range."""
    return [value(rng, form, form.low + 1, form.high) for _ in range(n)]


FAMILIES = [uniform, signed, wide, moderate, cancelling, vanishing, subnormal,
            around_smallest_normal, near_overflow, overflow, largest, negative_zeros, zeros, nans,
            infinities, sentinel, growing, shrinking, tie, carries, integers, same, bits]

SIZES = [0, 1, 2, 3, 7, 31, 32, 33, 63, 64, 65, 127, 128, 129, 255, 256, 257, 500]
LARGE = [999, 1000, 1001, 1023, 1024, 1025, 2000, 2047, 2048, 2049, 4095, 4096, 4097, 10000]
