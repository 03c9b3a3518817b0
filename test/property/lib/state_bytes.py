"""state_bytes.py: bytes of aggregate states, as src/common/envelope.h has them."""

SUMS = 1  # contents
INT8, NUMERIC = 3, 7  # types of arguments


def crc32c(data):
    crc = 0xffffffff
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = crc >> 1 ^ (0x82f63b78 if crc & 1 else 0)
    return crc ^ 0xffffffff


def whole(data):
    """A state's bytes with the check sum behind them."""
    return data + crc32c(data).to_bytes(4, 'big')


def of_integers(count, total):
    """So many bigints with this sum."""
    return whole(b'GA\x01' + bytes((INT8, SUMS, 0)) + count.to_bytes(8, 'big') + total.to_bytes(16, 'big', signed=True))


def of_numerics(count, total, groups, scale):
    """So many numerics, whose largest display scale is that, with the sum total / 10000^groups."""
    return whole(b'GA\x01' + bytes((NUMERIC, SUMS, 0)) + count.to_bytes(8, 'big') + count.to_bytes(8, 'big')
                 + scale.to_bytes(2, 'big') + bytes((groups,)) + total.to_bytes(16, 'big', signed=True))
