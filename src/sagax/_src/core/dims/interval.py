"""Bound symbolic sizes by interval arithmetic.

The bounds are cheap and sound, and exact for linear expressions of independent variables.
"""

from __future__ import annotations

from collections.abc import Callable

from sagax._src.core.dims.expression import Dim, Size
from sagax._src.core.dims.monomial import Atom, Monomial

# (lower, upper); None = unbounded on that side
Interval = tuple[int | None, int | None]


def polynomial_interval(x: Size, of_monomial: Callable[[Monomial], Interval]) -> Interval:
    """Return the interval of a polynomial from those of its monomials."""
    if type(x) is not Dim:
        return x, x
    lo: int | None = x.const
    hi: int | None = x.const
    for monomial, c in x.terms:
        mlo, mhi = of_monomial(monomial)
        if c < 0:
            mlo, mhi = mhi, mlo
        lo = None if lo is None or mlo is None else lo + c * mlo
        hi = None if hi is None or mhi is None else hi + c * mhi
    return lo, hi


def monomial_interval(monomial: Monomial, of_atom: Callable[[Atom], Interval]) -> Interval:
    """Return the interval of a product of powers of atoms from those of the atoms."""
    result: Interval = (1, 1)
    for atom, exponent in monomial.factors:
        result = _multiply(result, _power(of_atom(atom), exponent))
    return result


def operation_interval(kind: str, x: Interval, y: Interval) -> Interval:
    """Return the interval of ``floordiv``, ``mod``, ``max`` or ``min`` of operands in ``x`` and ``y``."""
    return _OPERATIONS[kind](x, y)


def intersect(x: Interval, y: Interval) -> Interval:
    lo = y[0] if x[0] is None else x[0] if y[0] is None else max(x[0], y[0])
    hi = y[1] if x[1] is None else x[1] if y[1] is None else min(x[1], y[1])
    return lo, hi


def _power(x: Interval, exponent: int) -> Interval:
    if exponent == 1:
        return x
    lo, hi = x
    if exponent % 2 or (lo is not None and lo >= 0):
        return (None if lo is None else lo**exponent, None if hi is None else hi**exponent)
    if hi is not None and hi <= 0:
        return hi**exponent, None if lo is None else lo**exponent
    largest = None if lo is None or hi is None else max(lo**exponent, hi**exponent)
    return 0, largest


def _multiply(x: Interval, y: Interval) -> Interval:
    # Products of bounds, with infinities as floats for their sign; 0 * inf is 0 here.
    corners = [_corner(a, b) for a in _to_floats(x) for b in _to_floats(y)]
    return _from_floats(min(corners), max(corners))


_INF = float("inf")


def _to_floats(x: Interval) -> tuple[int | float, int | float]:
    return (-_INF if x[0] is None else x[0], _INF if x[1] is None else x[1])


def _from_floats(lo: int | float, hi: int | float) -> Interval:
    return (
        None if isinstance(lo, float) else lo,
        None if isinstance(hi, float) else hi,
    )


def _corner(a: int | float, b: int | float) -> int | float:
    if a == 0 or b == 0:
        return 0
    if isinstance(a, float) or isinstance(b, float):
        return _INF if (a > 0) == (b > 0) else -_INF
    return a * b


def _floordiv(x: Interval, y: Interval) -> Interval:
    lo, hi = y
    if lo is not None and lo >= 1:
        # Monotone in each operand for a divisor of one sign: the extremes are at the corners.
        ends = [_quotient(a, b) for a in _to_floats(x) for b in _to_floats(y)]
        return _from_floats(min(ends), max(ends))
    if hi is not None and hi <= -1:
        return _floordiv(_negate(x), _negate(y))
    # Divisor of unknown sign: at most the magnitude of the dividend.
    a, b = _to_floats(x)
    bound = max(abs(a), abs(b))
    return _from_floats(-bound, bound)


def _quotient(a: int | float, b: int | float) -> int | float:
    if isinstance(b, float):  # divisor +inf
        return 0 if a >= 0 else -1
    if isinstance(a, float):
        return a
    return a // b


def _negate(x: Interval) -> Interval:
    return (None if x[1] is None else -x[1], None if x[0] is None else -x[0])


def _mod(x: Interval, y: Interval) -> Interval:
    lo, hi = y
    if lo is not None and lo >= 1:
        top = None if hi is None else hi - 1
        if x[0] is not None and x[0] >= 0:
            if x[1] is not None and x[1] < lo:
                return x
            return intersect((0, top), (0, x[1]))
        return 0, top
    if hi is not None and hi <= -1:
        return (None if lo is None else lo + 1), 0
    return (None if lo is None else min(lo + 1, 0)), (None if hi is None else max(hi - 1, 0))


def _max(x: Interval, y: Interval) -> Interval:
    a, b = _to_floats(x), _to_floats(y)
    return _from_floats(max(a[0], b[0]), max(a[1], b[1]))


def _min(x: Interval, y: Interval) -> Interval:
    a, b = _to_floats(x), _to_floats(y)
    return _from_floats(min(a[0], b[0]), min(a[1], b[1]))


_OPERATIONS: dict[str, Callable[[Interval, Interval], Interval]] = {
    "floordiv": _floordiv,
    "mod": _mod,
    "max": _max,
    "min": _min,
}
