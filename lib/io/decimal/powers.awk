# powers.awk: writes the table of powers.c: for q = -342 ... 324 the integer c, 2^127 <= c < 2^128, of 10^q = c 2^e.
#
# 10^q and 5^q differ by a power of 2, so that both have the same c.  Large integers are kept as digits to the base
# 2^16, the lowest one first: a product of a digit and 5, or 5 * 2^16, is exact in awk's doubles.
#
#     q >= 0    5^q, by multiplying with 5
#     q < 0     floor (2^1024 / 5^-q), by dividing by 5, since floor (floor (x / a) / 5) = floor (x / (5 a))
#
# c is the first 128 bits of it, of which at least 230 are there.  It is rounded down for q >= 0, and up for q < 0,
# where it is never exact.
BEGIN {
    BASE = 65536
    DIGITS = 65
    for (k = 0; k < DIGITS; k++) d[k] = 0
    d[DIGITS - 1] = 1
    for (q = -1; q >= -342; q--) {
        rest = 0
        for (k = DIGITS - 1; k >= 0; k--) {
            rest = rest * BASE + d[k]
            d[k] = int(rest / 5)
            rest -= 5 * d[k]
        }
        row[q] = first_bits(1)
    }
    for (k = 0; k < DIGITS; k++) d[k] = 0
    d[0] = 1
    for (q = 0; q <= 324; q++) {
        row[q] = first_bits(0)
        carry = 0
        for (k = 0; k < DIGITS; k++) {
            carry += 5 * d[k]
            d[k] = carry % BASE
            carry = int(carry / BASE)
        }
    }
    for (q = -342; q <= 324; q++) printf "    {%s}, /* 1e%d */\n", row[q], q
}

# The 128 bits from the first 1 on, plus 1 if they are to be rounded up, as "0x..., 0x...".
function first_bits(up,    top, shift, k, c, text) {
    for (top = DIGITS - 1; !d[top]; top--) continue
    for (shift = 1; d[top] * shift < BASE / 2; shift *= 2) continue
    for (k = 7; k >= 0; k--) {
        c[k] = (digit(top - k) * shift) % BASE + int(digit(top - k - 1) * shift / BASE) + up
        up = c[k] == BASE
        c[k] %= BASE
    }
    text = "0x"
    for (k = 0; k < 8; k++) text = text (k == 4 ? ", 0x" : "") sprintf("%04x", c[k])
    return text
}

function digit(k) {
    return k < 0 ? 0 : d[k]
}
