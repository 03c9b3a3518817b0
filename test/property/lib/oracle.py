"""oracle.py: exact sums of floats and their correct rounding, in integers.

Every finite float8 is a whole multiple of 2**-1074, so an exact sum is one
Python integer in that unit.  Nothing here uses floating-point addition.
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
        if mine != theirs:
            return False
    return True
