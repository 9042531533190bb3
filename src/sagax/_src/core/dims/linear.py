"""Find integer points of linear equations and inequalities exactly, by the Omega test.

A row is ``(coefficients, constant)`` with one coefficient for each column. It stands for
``coefficients . x + constant``, which is 0 in an equation and at least 0 in an inequality.

Columns are eliminated one by one: first equations, by unimodular substitutions, then inequalities, by
combining each lower with each upper bound (Fourier-Motzkin). Rows are divided by the gcd of their
coefficients, with the constant rounded, which is valid for integers only. Every solution projects to a
point of the combined system (the real shadow). Such a point extends to the column if there is an integer
between the bounds, as is certain if one of two combined coefficients is 1. If not, the dark shadow,
combined with a margin, has only points that extend. Outside of it there are finitely many equations to
try (W. Pugh, "The Omega test", 1991).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

Row = tuple[tuple[int, ...], int]
Rows = dict[tuple[int, ...], int]  # coefficients -> constant: the tightest of parallel rows

# Elimination can explode. Decisions are then "unknown", which is sound. Actual models stay three
# orders of magnitude below. 10_000 rows take about 10 ms.
BUDGET = 200_000


class BudgetExceeded(Exception):
    """The search exceeded its budget."""


class _Budget:
    """Count the created rows, to bound a search."""

    __slots__ = ("left",)

    def __init__(self, budget: int | None) -> None:
        self.left = BUDGET if budget is None else budget

    def spend(self, rows: int) -> None:
        self.left -= rows
        if self.left < 0:
            raise BudgetExceeded


def find_point(
    equations: Iterable[Row],
    inequalities: Iterable[Row],
    columns: int,
    budget: int | None = None,
) -> list[int] | None:
    """Return integers that satisfy all rows, or None if there are none.

    Raises BudgetExceeded if that needs more than ``budget`` rows (default BUDGET).
    """
    return _solve(list(equations), list(inequalities), columns, _Budget(budget))


def _solve(
    equations: list[Row], inequalities: list[Row], columns: int, search: _Budget
) -> list[int] | None:
    """Eliminate the equations, solve the rest, and compute the eliminated columns."""
    substitutions: list[tuple[int, Row]] = []  # column := row, in the columns that remain
    while equations:
        coefficients, constant = equations.pop()
        divisor = math.gcd(*coefficients)
        if divisor == 0:
            if constant:
                return None
            continue
        if constant % divisor:
            return None
        if divisor > 1:
            coefficients = tuple([c // divisor for c in coefficients])
            constant //= divisor
        smallest = min([abs(c) for c in coefficients if c])
        column = next(j for j, c in enumerate(coefficients) if abs(c) == smallest)
        pivot = coefficients[column]
        if smallest == 1:
            # pivot * x = -(rest), and 1 / pivot == pivot
            value = [-pivot * c for c in coefficients]
            value[column] = 0
            replacement: Row = tuple(value), -pivot * constant
        else:
            # x := x - sum(q_i x_i) leaves remainders as coefficients, smaller each time.
            value = [-(c // pivot) for c in coefficients]
            value[column] = 1
            replacement = tuple(value), 0
            equations.append((coefficients, constant))
        search.spend(len(equations) + len(inequalities))
        equations = [_substitute_row(row, column, replacement) for row in equations]
        inequalities = [_substitute_row(row, column, replacement) for row in inequalities]
        substitutions.append((column, replacement))
    point = _solve_inequalities(inequalities, columns, search)
    if point is not None:
        for column, row in reversed(substitutions):
            point[column] = evaluate(row, point)
    return point


def _substitute_row(row: Row, column: int, value: Row) -> Row:
    factor = row[0][column]
    if not factor:
        return row
    coefficients = [a + factor * b for a, b in zip(row[0], value[0])]
    coefficients[column] = factor * value[0][column]
    return tuple(coefficients), row[1] + factor * value[1]


def evaluate(row: Row, point: Sequence[int]) -> int:
    """Return the value of the row's expression at ``point``."""
    return sum([c * x for c, x in zip(row[0], point)]) + row[1]


def tighten(inequalities: Iterable[Row]) -> Rows | None:
    """Divide rows by their gcd, and merge parallel ones; return None if one cannot hold."""
    rows: Rows = {}
    for coefficients, constant in inequalities:
        divisor = math.gcd(*coefficients)
        if divisor != 1:
            if divisor == 0:
                if constant < 0:
                    return None
                continue
            coefficients = tuple([c // divisor for c in coefficients])
            constant //= divisor
        known = rows.get(coefficients)
        if known is None or constant < known:
            rows[coefficients] = constant
    return rows


def _solve_inequalities(
    inequalities: Iterable[Row], columns: int, search: _Budget
) -> list[int] | None:
    rows = tighten(inequalities)
    if rows is None:
        return None
    if not rows:
        return [0] * columns
    # Opposite rows enclose a strip: empty, a single value, or wide.
    for coefficients, constant in rows.items():
        other = rows.get(tuple([-c for c in coefficients]))
        if other is not None:
            width = constant + other
            if width < 0:
                return None
            if width == 0:
                rest = [row for row in rows.items() if row[0] != coefficients]
                return _solve([(coefficients, constant)], rest, columns, search)
    column = _choose_column(rows, columns)
    lower, upper, rest = _split_bounds(rows, column)
    search.spend(len(lower) * len(upper))
    real = rest + [_combine(p, q, column, False) for p in lower for q in upper]
    point = _solve_inequalities(real, columns, search)
    if point is None or _extend(point, column, lower, upper):
        return point
    # The bounds enclose no integer there, as is possible if none of them has coefficient 1.
    dark = rest + [_combine(p, q, column, True) for p in lower for q in upper]
    point = _solve_inequalities(dark, columns, search)
    if point is not None:
        _extend(point, column, lower, upper)
        return point
    # Any other point lies close above one of the lower bounds b*x + r >= 0.
    steepest = max([-coefficients[column] for coefficients, _ in upper])
    for coefficients, constant in lower:
        b = coefficients[column]
        for i in range((steepest * b - steepest - b) // steepest + 1):
            equation = (coefficients, constant - i)
            point = _solve([equation], list(rows.items()), columns, search)
            if point is not None:
                return point
    return None


def _choose_column(rows: Rows, columns: int) -> int:
    """Return the column to eliminate: the cheapest, exact eliminations first."""
    best = (2, 0)
    chosen = -1
    for j in range(columns):
        lower = upper = 0
        lower_unit = upper_unit = True
        for coefficients in rows:
            c = coefficients[j]
            if c > 0:
                lower += 1
                if c != 1:
                    lower_unit = False
            elif c < 0:
                upper += 1
                if c != -1:
                    upper_unit = False
        if not lower and not upper:
            continue
        if not lower or not upper:
            return j
        cost = (0 if lower_unit or upper_unit else 1, lower * upper - lower - upper)
        if cost < best:
            best, chosen = cost, j
    return chosen


def _split_bounds(rows: Rows, column: int) -> tuple[list[Row], list[Row], list[Row]]:
    """Split rows into those that bound the column from below, from above, and not at all."""
    lower: list[Row] = []
    upper: list[Row] = []
    rest: list[Row] = []
    for row in rows.items():
        c = row[0][column]
        (lower if c > 0 else upper if c < 0 else rest).append(row)
    return lower, upper, rest


def _combine(lower: Row, upper: Row, column: int, dark: bool) -> Row:
    """Combine two bounds to a row without the column."""
    a = lower[0][column]
    b = -upper[0][column]
    coefficients = tuple([b * p + a * q for p, q in zip(lower[0], upper[0])])
    constant = b * lower[1] + a * upper[1]
    return coefficients, constant - (a - 1) * (b - 1) if dark else constant


def _extend(point: list[int], column: int, lower: list[Row], upper: list[Row]) -> bool:
    """Set the column to a value within its bounds; return False if there is no such integer."""
    point[column] = 0
    lo = max([-(evaluate(row, point) // row[0][column]) for row in lower], default=None)
    hi = min([evaluate(row, point) // -row[0][column] for row in upper], default=None)
    if lo is None:
        point[column] = 0 if hi is None else hi
        return True
    point[column] = lo
    return hi is None or lo <= hi


def column_range(
    equations: Iterable[Row],
    inequalities: Iterable[Row],
    columns: int,
    column: int,
    budget: int | None = None,
) -> tuple[int | None, int | None]:
    """Return bounds of one column over the integer points, possibly not attained; None = unbounded.

    A side reported as unbounded is so if there are integer points at all. Raises BudgetExceeded as
    `find_point` does.
    """
    search = _Budget(budget)
    rows_left = list(inequalities)
    for coefficients, constant in equations:
        rows_left.append((coefficients, constant))
        rows_left.append((tuple([-c for c in coefficients]), -constant))
    others = [j for j in range(columns) if j != column]
    rows = tighten(rows_left)
    while others and rows:
        costs = {j: _cost(rows, j) for j in others}
        j = min(others, key=costs.__getitem__)
        others.remove(j)
        lower, upper, rest = _split_bounds(rows, j)
        search.spend(len(lower) * len(upper))
        rows = tighten(rest + [_combine(p, q, j, False) for p in lower for q in upper])
    lo: int | None = None
    hi: int | None = None
    for coefficients, constant in (rows or {}).items():
        c = coefficients[column]
        if c > 0:
            bound = -(constant // c)
            lo = bound if lo is None else max(lo, bound)
        elif c < 0:
            bound = constant // -c
            hi = bound if hi is None else min(hi, bound)
    return lo, hi


def _cost(rows: Rows, column: int) -> int:
    lower = sum(1 for coefficients in rows if coefficients[column] > 0)
    upper = sum(1 for coefficients in rows if coefficients[column] < 0)
    return lower * upper - lower - upper
