"""oracle.py: exact sums and moments of floats and their correct rounding, in integers.

Every finite float8 is a whole multiple of 2**-1074, so an exact sum is one
Python integer in that unit, and an exact sum of squares one in its square.
Nothing here uses floating-point addition.
"""
from fractions import Fraction
import math
import struct

UNIT = 1074

OVERFLOW = 'overflow'


class Format:
    """A binary floating-point format: precision, smallest and overflow exponents."""

    def __init__(self, name, precision, low, high, pack):
        self.name = name
        self.precision = precision
        self.low = low          # the smallest subnormal is 2**low
        self.high = high        # 2**high is out of range
        self.pack = pack
        self.width = struct.calcsize(pack)
        self.top = math.ldexp(2 ** precision - 1, high - precision)

    def hex(self, value):
        """The bytes of a value, most significant first, as PostgreSQL's send functions show them."""
        if value != value:
            return {8: '7ff8000000000000', 4: '7fc00000'}[self.width]
        return struct.pack(self.pack, value).hex()

    def round(self, total):
        """The float nearest to total * 2**-UNIT, ties to even; OVERFLOW when out of range."""
        size = abs(total)
        shift = max(size.bit_length() - self.precision, UNIT + self.low)
        quotient, rest = size >> shift, size & ((1 << shift) - 1)
        half = (1 << shift) >> 1
        if shift > 0 and (rest > half or (rest == half and quotient & 1)):
            quotient += 1
        if (quotient << shift) >> (UNIT + self.high):
            return OVERFLOW
        value = math.ldexp(quotient, shift - UNIT)
        return -value if total < 0 else value


FLOAT8 = Format('float8', 53, -1074, 1024, '>d')
FLOAT4 = Format('float4', 24, -149, 128, '>f')


def scaled(value):
    """A finite float as a multiple of 2**-UNIT."""
    numerator, denominator = value.as_integer_ratio()
    return numerator * ((1 << UNIT) // denominator)


class Sum:
    """The exact sum of the values added so far; None adds nothing."""

    def __init__(self):
        self.total = 0
        self.count = 0
        self.only_negative_zeros = True
        self.nan = self.plus = self.minus = False

    def add(self, value):
        if value is None:
            return
        self.count += 1
        if value != value:
            self.nan = True
        elif value in (math.inf, -math.inf):
            self.plus |= value > 0
            self.minus |= value < 0
        else:
            self.total += scaled(value)
        if value != 0 or math.copysign(1, value) > 0:
            self.only_negative_zeros = False

    def result(self, form):
        """None, a float of the format, or OVERFLOW."""
        if self.count == 0:
            return None
        if self.nan or (self.plus and self.minus):
            return math.nan
        if self.plus or self.minus:
            return math.inf if self.plus else -math.inf
        if self.total == 0:
            return -0.0 if self.only_negative_zeros else 0.0
        return form.round(self.total)


def quotient(p, q, unit):
    """The float8 nearest to p / q * 2**-unit, q > 0; OVERFLOW when out of range."""
    size = abs(p)
    # 2**shift units make up the last place: the quotient then has 53 or 54 bits, or is subnormal
    shift = max(size.bit_length() - q.bit_length() - FLOAT8.precision, unit + FLOAT8.low)
    over, under = max(shift, 0), max(-shift, 0)
    mantissa, rest = divmod(size << under, q << over)
    if mantissa.bit_length() > FLOAT8.precision:
        shift += 1
        over, under = max(shift, 0), max(-shift, 0)
        mantissa, rest = divmod(size << under, q << over)
    twice = 2 * rest - (q << over)
    if twice > 0 or (twice == 0 and mantissa & 1):
        mantissa += 1
    if mantissa and mantissa.bit_length() + shift - unit > FLOAT8.high:
        return OVERFLOW
    value = math.ldexp(mantissa, shift - unit)
    return -value if p < 0 else value


def root(p, q, unit):
    """The float8 nearest to the root of p / q * 2**(-2 * unit), p >= 0 and q > 0."""
    if p == 0:
        return 0.0
    shift = max((p.bit_length() - q.bit_length()) // 2 - FLOAT8.precision, unit + FLOAT8.low)
    while True:
        over, under = q << 2 * max(shift, 0), p << 2 * max(-shift, 0)
        mantissa = math.isqrt(under // over)
        if mantissa.bit_length() <= FLOAT8.precision:
            break
        shift += 1
    # beside the middle between the mantissa and the next: (2 m + 1)**2 over / 4 against under
    side = 4 * under - (2 * mantissa + 1) ** 2 * over
    if side > 0 or (side == 0 and mantissa & 1):
        mantissa += 1
    if mantissa and mantissa.bit_length() + shift - unit > FLOAT8.high:
        return OVERFLOW
    return math.ldexp(mantissa, shift - unit)


class Moments(Sum):
    """And the exact sum of squares."""

    def __init__(self):
        super().__init__()
        self.squares = 0

    def add(self, value):
        super().add(value)
        if value is not None and math.isfinite(value):
            self.squares += scaled(value) ** 2

    def average(self):
        if self.count == 0:
            return None
        special = self.result(FLOAT8)
        if self.nan or self.plus or self.minus or self.total == 0:
            return special
        return quotient(self.total, self.count, UNIT)

    def variance(self, sample, rooted):
        n = self.count
        if n <= sample:
            return None
        if self.nan or self.plus or self.minus:
            return math.nan
        p, q = n * self.squares - self.total ** 2, n * (n - sample)
        return root(p, q, UNIT) if rooted else quotient(p, q, 2 * UNIT)

    def results(self):
        """In the order of AGGREGATES."""
        pop, samp = (self.variance(sample, False) for sample in (0, 1))
        deviation, sample_deviation = (self.variance(sample, True) for sample in (0, 1))
        return [self.average(), pop, samp, samp, deviation, sample_deviation, sample_deviation]


# core's names: rows less than all to divide by, and whether the root is taken
VARIANCES = {'var_pop': (0, False), 'var_samp': (1, False), 'variance': (1, False),
             'stddev_pop': (0, True), 'stddev_samp': (1, True), 'stddev': (1, True)}
AGGREGATES = ['gpu_avg', 'gpu_var_pop', 'gpu_var_samp', 'gpu_variance', 'gpu_stddev_pop',
              'gpu_stddev_samp', 'gpu_stddev']


def moments(values):
    exact = Moments()
    for value in values:
        exact.add(value)
    return exact


def total(values, form):
    """The correctly rounded sum of values, as Sum.result."""
    exact = Sum()
    for value in values:
        exact.add(value)
    return exact.result(form)


def text(value, form):
    """How a check's statement prints a result: the hexadecimal bytes, nothing for NULL."""
    if value is None or value == OVERFLOW:
        return '' if value is None else value
    return form.hex(value)


def self_check(rng):
    """The rounding of this file against that of Python's fractions."""
    for _ in range(500):
        number = rng.getrandbits(rng.choice((1, 52, 53, 54, 55, 60, 200, 1074, 1100, 2090)))
        number *= rng.choice((1, -1))
        mine = FLOAT8.round(number)
        try:
            theirs = float(Fraction(number, 1 << UNIT))
        except OverflowError:
            theirs = OVERFLOW
        if mine != theirs or not (self_check_quotient(rng) and self_check_root(rng)):
            return False
    return True


def self_check_quotient(rng):
    """Division against that of Python's fractions."""
    p = rng.getrandbits(rng.choice((1, 52, 53, 60, 2000, 4200))) * rng.choice((1, -1))
    q = rng.choice((1, 2, 3, 1 << rng.randrange(60), rng.getrandbits(60) + 1))
    unit = rng.choice((0, UNIT, 2 * UNIT))
    try:
        theirs = float(Fraction(p, q << unit))
    except OverflowError:
        theirs = OVERFLOW
    return quotient(p, q, unit) == theirs


def self_check_root(rng):
    """A root against its definition: between the halves towards its neighbours."""
    p = rng.getrandbits(rng.choice((1, 20, 53, 60, 2100, 4200)))
    if rng.random() < 0.3:
        p = rng.getrandbits(rng.choice((20, 54, 55))) ** 2
    q = rng.choice((1, 4, 3, 12, rng.getrandbits(40) + 1))
    unit = rng.choice((0, UNIT))
    value = root(p, q, unit)
    exact = Fraction(p, q << 2 * unit)
    if value == OVERFLOW:
        return exact >= (Fraction(FLOAT8.top) + Fraction(math.ulp(FLOAT8.top)) / 2) ** 2
    if value < 0 or (value == 0 and p > 0 and exact > Fraction(1, 1 << 2 * UNIT + 2)):
        return False
    above = Fraction(value) + Fraction(math.ulp(value)) / 2
    below = Fraction(value) - Fraction(value - math.nextafter(value, 0)) / 2
    if below ** 2 < exact < above ** 2:
        return True
    even = int(Fraction(value) / Fraction(math.ulp(value))) % 2 == 0
    return even and below ** 2 <= exact <= above ** 2
