"""Decide comparisons of symbolic sizes, by systems of linear rows.

Every monomial (a variable, an operation, a product) becomes a column, and facts about it become rows.
Variables are at least 1; ``q = floordiv(x, d)`` has ``d*q <= x <= d*q + d - 1``; a maximum is one of its
operands and at least both; products of bounded factors have McCormick bounds. Constraints of the scope are
rows too. A statement is true if its negation has no integer point, and false if it has none itself.
Otherwise it depends on the sizes.

This is complete if everything is linear, operations by constants included. Products are columns with the
rows above only, so that some true statements stay unproved.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import sagax._src.core.dims.expression as expression
import sagax._src.core.dims.interval as interval
import sagax._src.core.dims.linear as linear
from sagax._src.core.dims.expression import Dim, Scope, Size
from sagax._src.core.dims.interval import Interval
from sagax._src.core.dims.linear import Row
from sagax._src.core.dims.monomial import Atom, Monomial
from sagax._src.frozen_class import record


@record
class Relation:
    """Hold a known relation ``lhs op rhs``; ``op`` is ``>=`` or ``==``."""

    text: str  # as the user wrote it
    lhs: Size
    op: str
    rhs: Size
    difference: Size  # lhs - rhs, before this relation becomes a rule
    names: frozenset[str]  # of the variables

    @staticmethod
    def of(text: str, lhs: Size, op: str, rhs: Size) -> Relation:
        if op == "<=":
            lhs, op, rhs = rhs, ">=", lhs
        difference = expression.subtract(lhs, rhs)
        return Relation(text, lhs, op, rhs, difference, expression.variables(difference))

    def holds(self, env: Mapping[str, int]) -> bool:
        """Return whether the relation is true for these sizes."""
        value = expression.evaluate(self.difference, env)
        return value == 0 if self.op == "==" else value >= 0


@dataclass
class Facts:
    """Hold zero expressions, nonnegative expressions, and disjunctions."""

    zero: list[Dim] = field(default_factory=list[Dim])
    positive: list[Dim] = field(default_factory=list[Dim])
    choices: list[list[list[Dim]]] = field(default_factory=list[list[list[Dim]]])

    def add(self, e: Size, zero: bool = False) -> None:
        if type(e) is Dim:  # a constant carries no information
            (self.zero if zero else self.positive).append(e)

    def expressions(self) -> Iterable[Dim]:
        yield from self.zero
        yield from self.positive
        for choice in self.choices:
            for alternative in choice:
                yield from alternative


@dataclass
class System:
    """Hold all facts about some monomials, as rows."""

    columns: dict[Monomial, int]
    equations: list[Row]
    inequalities: list[Row]
    choices: list[list[list[Row]]]
    samples: list[list[int]]  # values of the columns for actual sizes
    independent: bool  # only intervals of variables: interval arithmetic is exact
    linear: bool  # no products: every solution belongs to actual sizes

    def row(self, e: Dim, sign: int = 1, offset: int = 0) -> Row:
        coefficients = [0] * len(self.columns)
        for monomial, c in e.terms:
            coefficients[self.columns[monomial]] = sign * c
        return tuple(coefficients), sign * e.const + offset

    @property
    def budget(self) -> int:
        """Return the budget of rows for one decision; products have little chance of an answer."""
        return linear.BUDGET if self.linear else linear.BUDGET // 20

    def find(
        self, equations: Sequence[Row] = (), inequalities: Sequence[Row] = ()
    ) -> list[int] | None:
        """Return values of the columns that satisfy all facts and the given rows, or None.

        Raises BudgetExceeded.
        """
        return self._find(
            [*self.equations, *equations], [*self.inequalities, *inequalities], self.choices
        )

    def _find(
        self, equations: list[Row], inequalities: list[Row], choices: list[list[list[Row]]]
    ) -> list[int] | None:
        # Branch on an alternative only if a solution without it violates it.
        point = linear.find_point(equations, inequalities, len(self.columns), self.budget)
        if point is None:
            return None
        for i, choice in enumerate(choices):
            if any(all(linear.evaluate(row, point) >= 0 for row in rows) for rows in choice):
                continue
            others = choices[:i] + choices[i + 1 :]
            for rows in choice:
                found = self._find(equations, inequalities + rows, others)
                if found is not None:
                    return found
            return None
        return point

    def least(self, row: Row) -> int | None:
        """Return a lower bound of the row's expression; None if unbounded. Raises BudgetExceeded."""
        columns = len(self.columns)
        wider = [((*coefficients, 0), constant) for coefficients, constant in self.equations]
        wider.append(((*(-c for c in row[0]), 1), -row[1]))  # a new column, equal to the expression
        rows = [((*coefficients, 0), constant) for coefficients, constant in self.inequalities]
        if math.prod(len(choice) for choice in self.choices) > _MAX_CASES:
            raise linear.BudgetExceeded
        least: int | None = None
        for case in itertools.product(*self.choices):
            extra = [row for rows in case for row in rows]
            if extra and self._find(self.equations, self.inequalities + extra, []) is None:
                continue
            chosen = rows + [((*coefficients, 0), constant) for coefficients, constant in extra]
            bound, _ = linear.column_range(wider, chosen, columns + 1, columns, self.budget)
            if bound is None:
                return None
            least = bound if least is None else min(least, bound)
        return least


_MAX_CASES = 64


class Knowledge:
    """Hold the facts of one scope, and its memoized decisions."""

    def __init__(self, scope: Scope):
        self.scope = scope
        self.relations: list[Relation] = []
        self._trial = False  # whether this tests a hypothesis; these do not nest
        self._variable_intervals: dict[str, Interval] = {}
        self._forget()

    def _forget(self) -> None:
        self._intervals: dict[Monomial, Interval] = {}
        self._systems: dict[tuple[Monomial, ...], System] = {}
        self._decided: dict[tuple[Dim, str], bool | None] = {}

    def add(self, relations: Iterable[Relation]) -> bool:
        """Add relations; return False if no sizes satisfy all of them."""
        self.relations.extend(relations)
        self._forget()
        related = self._related_variables()
        if not related:
            return True
        monomials = [expression.variable_monomial(self.scope, name) for name in sorted(related)]
        try:
            system = self.system(monomials)
            if system.find() is None:
                return False
            for monomial in monomials:
                bounds = linear.column_range(
                    system.equations,
                    system.inequalities,
                    len(system.columns),
                    system.columns[monomial],
                    system.budget,
                )
                name = monomial.factors[0][0].name
                self._variable_intervals[name] = interval.intersect((1, None), bounds)
        except linear.BudgetExceeded:
            return True
        self._forget()  # earlier results used wider intervals
        return True

    def _related_variables(self) -> frozenset[str]:
        return frozenset[str]().union(*(relation.names for relation in self.relations))

    # -- intervals --

    def interval(self, e: Size) -> Interval:
        """Return the bounds of ``e`` by interval arithmetic."""
        return interval.polynomial_interval(e, self._of_monomial)

    def _of_monomial(self, monomial: Monomial) -> Interval:
        found = self._intervals.get(monomial)
        if found is None:
            found = interval.monomial_interval(monomial, self._of_atom)
            self._intervals[monomial] = found
        return found

    def _of_atom(self, atom: Atom) -> Interval:
        if atom.kind == "var":
            return self._variable_intervals.get(atom.name, (1, None))
        x, y = atom.operands
        return interval.operation_interval(atom.kind, self.interval(x), self.interval(y))

    def bounds(self, e: Size) -> Interval:
        """Return the least and the greatest value of ``e``; None = unbounded.

        They are attained if everything is linear.
        """
        lo, hi = self.interval(e)
        if type(e) is not Dim or (lo is not None and lo == hi):
            return lo, hi
        system = self.system([m for m, _ in e.terms])
        if system.independent:
            return lo, hi
        try:
            return self._least(system, e, lo), _negate(self._least(system, -e, _negate(hi)))
        except linear.BudgetExceeded:
            return lo, hi

    def _least(self, system: System, e: Dim, lo: int | None) -> int | None:
        """Return the least value of ``e``, which is at least ``lo``."""
        bound = system.least(system.row(e))
        if bound is None and lo is None:
            return None
        low = max(x for x in (lo, bound) if x is not None)
        point = system.find()
        if point is None:
            return lo
        high = linear.evaluate(system.row(e), point)
        while low < high:  # some integer point has e <= high, none has e < low
            middle = (low + high) // 2
            point = system.find(inequalities=[system.row(e, -1, middle)])
            if point is None:
                low = middle + 1
            else:
                high = min(middle, linear.evaluate(system.row(e), point))
        return low

    # -- decisions --

    def decide(self, e: Dim, op: str) -> bool | None:
        """Return whether ``e op 0`` (``>=`` or ``==``) holds for all sizes, none, or some (None)."""
        key = (e, op)
        try:
            return self._decided[key]
        except KeyError:
            pass
        answer = self._is_zero(e) if op == "==" else self._is_positive(e)
        self._decided[key] = answer
        return answer

    def _is_positive(self, e: Dim) -> bool | None:
        lo, hi = self.interval(e)
        if lo is not None and lo >= 0:
            return True
        if hi is not None and hi < 0:
            return False
        system = self.system([m for m, _ in e.terms])
        if system.independent:
            return None
        row = system.row(e)
        below = above = False
        for point in system.samples:
            if linear.evaluate(row, point) < 0:
                below = True
            else:
                above = True
            if below and above:
                return None
        try:
            if not below and not self._possible(system, e, ">=", -1, -1):
                return True
            if not above and not self._possible(system, e, ">="):
                return False
        except linear.BudgetExceeded:
            pass
        return None

    def _is_zero(self, e: Dim) -> bool | None:
        lo, hi = self.interval(e)
        if (lo is not None and lo > 0) or (hi is not None and hi < 0):
            return False
        if lo == 0 == hi:
            return True
        system = self.system([m for m, _ in e.terms])
        row = system.row(e)
        equal = differs = False
        for point in system.samples:
            if linear.evaluate(row, point):
                differs = True
            else:
                equal = True
            if equal and differs:
                return None
        try:
            if not equal and not self._possible(system, e, "=="):
                return False
            if not differs and not (
                self._possible(system, e, ">=", 1, -1) or self._possible(system, e, ">=", -1, -1)
            ):
                return True
        except linear.BudgetExceeded:
            pass
        return None

    def _possible(self, system: System, e: Dim, op: str, sign: int = 1, offset: int = 0) -> bool:
        """Return whether ``sign*e + offset op 0`` may hold. Raises BudgetExceeded."""
        row = system.row(e, sign, offset)
        point = system.find([row], []) if op == "==" else system.find([], [row])
        if point is None:
            return False
        if self._remember(system, point) or system.linear or self._trial:
            return True
        # Products are free columns, and no sizes have this point. Assume the statement as a
        # constraint: it narrows the variables, and with them the bounds of the products.
        trial = Knowledge(self.scope)
        trial._trial = True
        difference = expression.add(expression.scale(e, sign), offset)
        return trial.add([*self.relations, Relation.of("", difference, op, 0)])

    def _remember(self, system: System, point: list[int]) -> bool:
        """Record a solution as a sample if it belongs to actual sizes; return whether it does."""
        env = {
            m.factors[0][0].name: point[column]
            for m, column in system.columns.items()
            if m.is_variable
        }
        sample = self._sample(system.columns, env)
        if sample is None:
            return False
        if sample not in system.samples:
            if len(system.samples) >= _MAX_SAMPLES:
                del system.samples[_MAX_SAMPLES // 2]
            system.samples.append(sample)
        return sample == point

    def _sample(self, columns: Iterable[Monomial], env: Mapping[str, int]) -> list[int] | None:
        """Return the values of the columns for these sizes, or None if they violate a constraint."""
        try:
            if min(env.values(), default=1) < 1:
                return None
            if not all(
                relation.holds(env) for relation in self.relations if relation.names <= env.keys()
            ):
                return None
            return [monomial.evaluate(env) for monomial in columns]
        except ZeroDivisionError:
            return None

    def example(self, e: Dim, op: str, holds: bool) -> dict[str, int] | None:
        """Return sizes for which ``e op 0`` holds (or does not), if some are found."""
        system = self.system([m for m, _ in e.terms])
        try:
            if op == "==":
                if holds:
                    self._possible(system, e, "==")
                else:
                    self._possible(system, e, ">=", 1, -1)
                    self._possible(system, e, ">=", -1, -1)
            elif holds:
                self._possible(system, e, ">=")
            else:
                self._possible(system, e, ">=", -1, -1)
        except linear.BudgetExceeded:
            pass
        row = system.row(e)
        names = {m: m.factors[0][0].name for m in system.columns if m.is_variable}
        for sample in sorted(system.samples, key=sum):
            value = linear.evaluate(row, sample)
            if (value == 0 if op == "==" else value >= 0) == holds:
                env = {name: sample[system.columns[m]] for m, name in names.items()}
                return {name: env[name] for name in sorted(expression.variables(e))}
        return None

    def some_sizes(self, names: Sequence[str]) -> list[dict[str, int]]:
        """Return a few values of the variables that satisfy the constraints, small ones first."""
        monomials = [expression.variable_monomial(self.scope, name) for name in names]
        system = self.system(monomials)
        try:
            point = system.find()
            if point is not None:
                self._remember(system, point)
        except linear.BudgetExceeded:
            pass
        columns = [system.columns[m] for m in monomials]
        return [
            {name: sample[column] for name, column in zip(names, columns)}
            for sample in sorted(system.samples, key=sum)
        ]

    # -- systems --

    def system(self, monomials: Iterable[Monomial]) -> System:
        """Return all facts about these monomials and those connected with them."""
        key = tuple(monomials)
        found = self._systems.get(key)
        if found is None:
            found = self._systems[key] = self._build(key)
        return found

    def _build(self, monomials: Iterable[Monomial]) -> System:
        columns: dict[Monomial, int] = {}
        facts = Facts()
        waiting = list(monomials)
        relations = list(self.relations)
        names: set[str] = set()
        while waiting:
            for monomial in waiting:
                if monomial not in columns:
                    columns[monomial] = len(columns)
                    names.update(_variable_names(monomial))
                    self._describe(monomial, facts)
            for relation in list(relations):
                if names & relation.names:
                    relations.remove(relation)
                    facts.add(relation.difference, relation.op == "==")
            waiting = [m for e in facts.expressions() for m, _ in e.terms if m not in columns]
            # Variables inside operations are columns too, since samples need their values.
            waiting += [
                m
                for m in (expression.variable_monomial(self.scope, name) for name in sorted(names))
                if m not in columns
            ]
        self._add_products(columns, facts)
        system = System(columns, [], [], [], [], False, all(m.degree == 1 for m in columns))
        system.equations = [system.row(e) for e in facts.zero]
        rows = [system.row(e) for e in facts.positive]
        tight = linear.tighten(rows)
        system.inequalities = rows if tight is None else list(tight.items())
        system.choices = [
            [[system.row(e) for e in alternative] for alternative in choice]
            for choice in facts.choices
        ]
        system.independent = (
            not facts.zero
            and not facts.choices
            and all(m.is_variable for m in columns)
            and all(len(e.terms) == 1 for e in facts.positive)
        )
        self._add_samples(system, sorted(names))
        return system

    def _describe(self, monomial: Monomial, facts: Facts) -> None:
        """Add the facts about one monomial."""
        atom = monomial.atom
        this = expression.from_monomial(self.scope, monomial)
        lo, hi = self._of_monomial(monomial)
        if lo is not None:
            facts.add(this - lo)
        if hi is not None:
            facts.add(hi - this)
        if atom is None:
            self._describe_product(monomial, facts)
        elif atom.kind != "var":
            describe = {
                "floordiv": self._describe_floordiv,
                "mod": self._describe_mod,
                "max": self._describe_max,
                "min": self._describe_min,
            }
            describe[atom.kind](this, atom.operands, facts)

    def _describe_product(self, monomial: Monomial, facts: Facts) -> None:
        """Add that products of the factors' distances from their bounds are not negative (McCormick)."""
        for atom, _ in monomial.factors:
            factor = expression.from_atom(self.scope, atom)
            rest = expression.from_monomial(self.scope, monomial, without=atom)
            if len(monomial.factors) == 1 and monomial.degree == 2:
                lo, hi = self._of_atom(atom)
                for corner in {x for x in (lo, None if hi is None else hi - 1) if x is not None}:
                    # No integer lies between corner and corner + 1.
                    facts.add((factor - corner) * (factor - corner - 1))
                if lo is not None and hi is not None:
                    facts.add((factor - lo) * (hi - factor))
                continue
            for x in _distances(factor, self._of_atom(atom)):
                for y in _distances(rest, self.interval(rest)):
                    facts.add(x * y)

    def _describe_floordiv(self, q: Size, operands: tuple[Size, Size], facts: Facts) -> None:
        x, d = operands
        lo, hi = self.interval(d)
        if type(d) is Dim:
            self._describe_quotient(q, x, d, facts)
        rest = x - q * d
        above = [rest, d - 1 - rest]
        below = [-rest, rest - d - 1]
        if lo is not None and lo >= 1:
            for e in above:
                facts.add(e)
        elif hi is not None and hi <= -1:
            for e in below:
                facts.add(e)
        else:
            choice = [[d - 1, *above], [-1 - d, *below]]
            facts.choices.append([[e for e in side if type(e) is Dim] for side in choice])

    def _describe_quotient(self, q: Size, x: Size, d: Dim, facts: Facts) -> None:
        """Add facts that linear rows lack if the divisor is not a constant."""
        gap = expression.subtract(x, d)
        for relation in self.relations:
            # x >= d implies floordiv(x, d) >= 1.
            more = expression.subtract(gap, relation.difference)
            if type(more) is not Dim and more >= 0:
                facts.add(q - 1)
        whole, rest = expression.divide(x, d)
        if type(whole) is Dim or whole:
            other = expression.from_operation(self.scope, "floordiv", (rest, d))
            facts.add(q - whole - other, zero=True)
        lo, _ = self.interval(d)
        if type(x) is not Dim or x.const or len(x.terms) != 1 or lo is None or lo < 1:
            return
        monomial, c = x.terms[0]
        if c == 1 and monomial.atom is not None and monomial.atom.kind == "floordiv":
            # floor(floor(y / c) / d) = floor(y / (c*d)) for d > 0
            y, inner = monomial.atom.operands
            other = expression.from_operation(self.scope, "floordiv", (y, inner * d))
            facts.add(q - other, zero=True)

    def _describe_mod(self, m: Size, operands: tuple[Size, Size], facts: Facts) -> None:
        x, d = operands
        quotient = expression.from_operation(self.scope, "floordiv", operands)
        facts.add(x - quotient * d - m, zero=True)

    def _describe_max(self, m: Size, operands: tuple[Size, Size], facts: Facts) -> None:
        gaps = [m - x for x in operands]
        self._describe_extremum(gaps, facts)

    def _describe_min(self, m: Size, operands: tuple[Size, Size], facts: Facts) -> None:
        gaps = [x - m for x in operands]
        self._describe_extremum(gaps, facts)

    def _describe_extremum(self, gaps: Sequence[Size], facts: Facts) -> None:
        for gap in gaps:
            facts.add(gap)
        # One of the gaps is zero. A gap may be constant, where constraints replaced the extremum by
        # one of its operands.
        if not any(type(gap) is not Dim and gap == 0 for gap in gaps):
            facts.choices.append([[-gap] for gap in gaps if type(gap) is Dim])

    def _add_products(self, columns: Mapping[Monomial, int], facts: Facts) -> None:
        """Add constraints times variables, if all resulting products are columns already."""
        if all(m.degree == 1 for m in columns):
            return
        factors = {atom for m in columns if m.degree > 1 for atom, _ in m.factors}
        for relation in self.relations:
            difference = relation.difference
            for atom in sorted(factors, key=lambda atom: atom.key):
                lo, _ = self._of_atom(atom)
                if lo is None or type(difference) is not Dim:
                    continue
                product = difference * (expression.from_atom(self.scope, atom) - lo)
                if type(product) is Dim and all(m in columns for m, _ in product.terms):
                    facts.add(product, relation.op == "==")

    def _add_samples(self, system: System, names: Sequence[str]) -> None:
        for pattern in _SAMPLE_PATTERNS:
            env = {name: pattern[i % len(pattern)] for i, name in enumerate(names)}
            sample = self._sample(system.columns, env)
            if sample is not None and sample not in system.samples:
                system.samples.append(sample)


_MAX_SAMPLES = 24
# Small, equal, rising, falling, odd, large: they show that most inconclusive statements depend on sizes.
_SAMPLE_PATTERNS = (
    (1,),
    (2,),
    (1, 2, 3, 4),
    (4, 3, 2, 1),
    (5, 1),
    (1, 7),
    (3, 8, 30),
    (100, 10),
    (9, 97),
)


def _variable_names(monomial: Monomial) -> Iterable[str]:
    for atom, _ in monomial.factors:
        if atom.kind == "var":
            yield atom.name
        else:
            for operand in atom.operands:
                yield from expression.variables(operand)


def _distances(x: Size, bounds: Interval) -> list[Size]:
    lo, hi = bounds
    return ([] if lo is None else [x - lo]) + ([] if hi is None else [hi - x])


def _negate(x: int | None) -> int | None:
    return None if x is None else -x
