"""Numbers of elementary operations: what each row of the table of operations states of itself."""

import math
from typing import NamedTuple


class Tally(NamedTuple):
    """Numbers of elementary operations, and bytes.

    multiplications: products and quotients. additions: sums, differences and changes of sign; an accumulated sum of n
    numbers has n, as its accumulator starts at 0. transcendental: roots, powers, exponentials and all other functions
    that no formula of products and sums gives. All three are of floating-point numbers.
    logic: comparisons, choices, roundings, sorting, bits, and all arithmetic of whole numbers. copies: elements that
    are copied, gathered, put, padded or converted. bytes_read, bytes_written: of the operands and the results.

    >>> Tally(multiplications=2, additions=3) + Tally(additions=1, copies=4)
    Tally(multiplications=2, additions=4, transcendental=0, logic=0, copies=4, bytes_read=0, bytes_written=0)
    """

    multiplications: int = 0
    additions: int = 0
    transcendental: int = 0
    logic: int = 0
    copies: int = 0
    bytes_read: int = 0
    bytes_written: int = 0

    @property
    def flops(self) -> int:
        """Floating-point operations: 1 for each of the first three, so that a fused multiply-add has 2.

        >>> Tally(multiplications=6, additions=6, transcendental=1, logic=9).flops
        13
        """
        return self.multiplications + self.additions + self.transcendental

    def __add__(self, other: "Tally") -> "Tally":  # pyright: ignore[reportIncompatibleMethodOverride] - of tuples
        return Tally(*map(sum, zip(self, other, strict=True)))

    def times(self, count: int) -> "Tally":
        """Return the numbers for as many executions."""
        return Tally(*(count * number for number in self))

    def of_whole_numbers(self) -> "Tally":
        """Return the same arithmetic on whole numbers."""
        return self._replace(multiplications=0, additions=0, transcendental=0, logic=self.logic + self.flops)


NOTHING = Tally()


def fused(count: int) -> Tally:
    """Return as many fused multiply-adds.

    >>> fused(3).flops
    6
    """
    return Tally(multiplications=count, additions=count)


def halves(flops: float) -> Tally:
    """Return a number of floating-point operations, of which half are products and half are sums."""
    products = round(flops / 2)
    return Tally(multiplications=products, additions=round(flops) - products)


def log2(n: int) -> int:
    """Return the smallest k with 2^k >= n.

    >>> [log2(n) for n in (1, 2, 5, 8)]
    [0, 1, 3, 3]
    """
    return math.ceil(math.log2(n)) if n > 1 else 0
