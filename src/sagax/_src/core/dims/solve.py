"""Solve for dimension variables, given the sizes of actual arguments.

The specifications of the arguments are equations ``expression == size``. Equations with one unknown are
solved directly: linear ones by division, polynomials by bisection between their turning points. The
remaining system goes to the decision procedure, which narrows the unknowns by the scope's constraints.
Finite sets of candidates are enumerated. A value is reported only if it is the only solution.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import sagax._src.core.dims.expression as expression
from sagax._src.core.dims.decide import Knowledge, Relation
from sagax._src.core.dims.expression import Dim, Scope, Size
from sagax._src.core.dims.scope import SymbolicScope
from sagax._src.core.dims.shapes import Shape, shape_text
from sagax._src.frozen_class import record

_MAX_VALUES = 4096  # candidates for one unknown
_MAX_STEPS = 4096  # steps of one search; a step takes from 10 us to 1 ms
_DOC_URL = "https://jax.readthedocs.io/en/latest/export/shape_poly.html#shape-assertion-errors"
_MAX_CANDIDATES = 6  # solutions listed when there are several


@record
class Equation:
    """Hold the equation of one dimension of an argument: ``expression == size``."""

    expression: Size
    size: int
    path: str  # args[0].shape[1]


@dataclass
class Solution:
    """Hold the values of the variables, or an error.

    ``env`` has the values of all variables if ``error`` is None. Otherwise ``env`` has those found so
    far, and ``error`` is the text to show. ``kind`` is one of ``rank constant remainder positive
    inconsistent constraint unsolved ambiguous``. ``candidates`` has up to 6 solutions for the other
    variables if there are several.
    """

    env: dict[str, int]
    kind: str | None = None
    error: str | None = None
    candidates: list[dict[str, int]] = field(default_factory=list[dict[str, int]])


class _Failure(Exception):
    def __init__(self, kind: str, text: str, candidates: Iterable[dict[str, int]] = ()):
        super().__init__(text)
        self.kind = kind
        self.text = text
        self.candidates = list(candidates)


def solve_dims(
    specs: Sequence[tuple[Shape, Sequence[int]]],
    labels: Sequence[str] | None = None,
    known: Mapping[str, int] | None = None,
) -> Solution:
    """Find the values of the variables that turn every symbolic shape into the concrete one.

    ``specs`` are pairs (symbolic shape, concrete shape), ``labels`` their names (``args[0]``, ...), and
    ``known`` are given values. The result is the only solution of all shapes and constraints of the
    scope. Otherwise it has an error text that shows the specifications and the values found so far.

    >>> from sagax._src.core import dims
    >>> a, b = dims.symbolic_shape("a, b")
    >>> dims.solve_dims([((a * b, a + b), (12, 8)), ((a - b,), (4,))]).env
    {'a': 6, 'b': 2}
    """
    names = list(labels) if labels is not None else [f"args[{i}]" for i in range(len(specs))]
    solver = _Solver(names, specs, dict(known or {}))
    try:
        try:
            solver.run()
        except ZeroDivisionError as error:
            raise solver.mismatch("A specification divides by zero for these sizes.") from error
    except _Failure as failure:
        text = f"{failure.text}\n{solver.context()}"
        return Solution(solver.env, failure.kind, text, failure.candidates)
    return Solution(solver.env)


class _Solver:
    def __init__(
        self,
        labels: Sequence[str],
        specs: Sequence[tuple[Shape, Sequence[int]]],
        known: dict[str, int],
    ):
        self.labels = labels
        self.specs = specs
        self.env = known
        self.sources = [f"{name!r} = {value} as given" for name, value in known.items()]
        self.scope: Scope | None = next(
            (d.scope for shape, _ in specs for d in shape if type(d) is Dim), None
        )

    def run(self) -> None:
        equations = self.equations()
        unknown = {name for e in equations for name in expression.variables(e.expression)}
        unknown -= self.env.keys()
        while unknown and self.solve_one(equations, unknown):
            pass
        if unknown and self.scope is not None:
            self.solve_jointly(self.scope, equations, unknown)
        self.check(equations)

    def context(self) -> str:
        shapes = ",\n".join(
            f"  {label}.shape = {shape_text(shape)}"
            for label, (shape, _) in zip(self.labels, self.specs)
        )
        text = f"Using the following polymorphic shapes specifications:\n{shapes}."
        if self.sources:
            text += f"\nObtained dimension variables: {', '.join(self.sources)}."
        return f"{text}\nPlease see {_DOC_URL} for more details."

    def equations(self) -> list[Equation]:
        equations: list[Equation] = []
        for label, (shape, sizes) in zip(self.labels, self.specs):
            if len(shape) != len(sizes):
                raise _Failure(
                    "rank",
                    f"Rank mismatch for {label}: expected {shape_text(shape)} and called with"
                    f" {shape_text(sizes)}",
                )
            for i, (d, size) in enumerate(zip(shape, sizes)):
                if type(d) is Dim:
                    equations.append(Equation(d, int(size), f"{label}.shape[{i}]"))
                elif d != size:
                    raise _Failure(
                        "constant",
                        f"Shape mismatch for {label}.shape[{i}] (expected same constant): expected"
                        f" {shape_text(shape)} and called with {shape_text(sizes)}",
                    )
        return equations

    # -- equations with one unknown --

    def solve_one(self, equations: list[Equation], unknown: set[str]) -> bool:
        """Solve every equation with one unknown that has one solution; return whether there was any."""
        found = False
        for equation in equations:
            names = expression.variables(equation.expression) & unknown
            if len(names) != 1:
                continue
            (name,) = names
            rest = self.partly(equation.expression)
            roots = self.roots(rest, equation, name)
            if roots is None or len(roots) > 1:
                continue
            if not roots:
                raise self.mismatch(
                    f"No value of '{name}' gives the size {equation.size} of {equation.path},"
                    f" which is specified as '{equation.expression}'."
                )
            self.assign(name, roots[0], equation)
            unknown.discard(name)
            found = True
        return found

    def partly(self, e: Size) -> Size:
        """Substitute the known values into ``e``."""
        return expression.substitute(e, self.env) if self.env else e

    def roots(self, e: Size, equation: Equation, name: str) -> list[int] | None:
        """Return the values of ``name`` that solve the equation; None if it is not a polynomial."""
        coefficients = _polynomial(e, name)
        if coefficients is None or len(coefficients) < 2:
            return None
        coefficients[0] -= equation.size
        if len(coefficients) == 2:
            # Return the root of a linear equation whatever its sign, for a better message.
            constant, slope = coefficients
            value, remainder = divmod(-constant, slope)
            if remainder:
                raise self.mismatch(
                    f"Division had remainder {abs(remainder)} when computing the value of '{name}'."
                    f"\nThe size {equation.size} of {equation.path} is specified as"
                    f" '{equation.expression}'.",
                    "remainder",
                )
            return [value]
        return positive_roots(coefficients)

    def assign(self, name: str, value: int, equation: Equation) -> None:
        self.env[name] = value
        self.sources.append(
            f"'{name}' = {value} from specification '{equation.expression}' for dimension"
            f" {equation.path} (= {equation.size})"
        )
        if value < 1:
            raise self.mismatch(f"Expected value >= 1 for dimension variable '{name}'.", "positive")

    def mismatch(self, what: str, kind: str = "inconsistent") -> _Failure:
        return _Failure(
            kind, f"Input shapes do not match the polymorphic shapes specification.\n{what}"
        )

    # -- systems with several unknowns --

    def solve_jointly(self, scope: Scope, equations: list[Equation], unknown: set[str]) -> None:
        rest = [
            Relation.of("", self.partly(e.expression), "==", e.size)
            for e in equations
            if expression.variables(e.expression) & unknown
        ]
        solutions, complete = _Search(scope, rest, sorted(unknown), self.env).run()
        given = ", ".join(
            f"'{e.expression}' = {e.size} for {e.path}"
            for e in equations
            if expression.variables(e.expression) & unknown
        )
        if len(solutions) == 1 and complete:
            for name, value in solutions[0].items():
                self.env[name] = value
                self.sources.append(f"'{name}' = {value} from {given}")
            return
        names = "{" + ", ".join(f"'{name}'" for name in sorted(unknown)) + "}"
        if not solutions and complete:
            raise self.mismatch(f"No values of {names} give the sizes {given}.")
        if not solutions or len(solutions) == 1:
            raise _Failure(
                "unsolved",
                f"Cannot solve for values of dimension variables {names}."
                f"\nThe sizes leave infinitely many or too many possibilities: {given}.",
                solutions,
            )
        listed = "; ".join(
            ", ".join(f"{name} = {value}" for name, value in s.items())
            for s in solutions[:_MAX_CANDIDATES]
        )
        more = "" if complete and len(solutions) <= _MAX_CANDIDATES else "; ..."
        raise _Failure(
            "ambiguous",
            f"Cannot solve for values of dimension variables {names}."
            f"\nSeveral values give the sizes {given}: {listed}{more}."
            "\nGive the values directly, or pass an argument in whose shape a variable is alone.",
            solutions[:_MAX_CANDIDATES],
        )

    # -- checks --

    def check(self, equations: list[Equation]) -> None:
        """Check the values against all equations and constraints."""
        env = self.env
        if isinstance(self.scope, SymbolicScope):
            env = self.scope.complete(env)
        for name, value in self.env.items():
            if value < 1:
                raise self.mismatch(
                    f"Expected value >= 1 for dimension variable '{name}'.", "positive"
                )
            if env[name] != value:
                raise self.mismatch(
                    f"Found inconsistency between the value {value} of '{name}' as given and what"
                    f" the constraints make of it (= {env[name]})."
                )
        for equation in equations:
            value = expression.evaluate(equation.expression, self.env)
            if value != equation.size:
                raise self.mismatch(
                    f"Found inconsistency between dimension size {equation.path}"
                    f" (= {equation.size}) and the specification '{equation.expression}'"
                    f" (= {value})."
                )
        if isinstance(self.scope, SymbolicScope):
            for relation in self.scope.relations:
                if relation.names <= env.keys() and not relation.holds(env):
                    value = expression.evaluate(relation.difference, env)
                    expected = "0" if relation.op == "==" else ">= 0"
                    raise _Failure(
                        "constraint",
                        f"Input shapes do not match the symbolic shape constraint {relation.text}."
                        f"\nExpected '{relation.difference}' to be {expected}, but found {value}.",
                    )


def _polynomial(e: Size, name: str) -> list[int] | None:
    """Return the coefficients of ``e`` by powers of the variable, if it is a polynomial in it alone."""
    if type(e) is not Dim:
        return None
    coefficients = [e.const]
    for monomial, c in e.terms:
        if len(monomial.factors) != 1:
            return None
        atom, exponent = monomial.factors[0]
        if atom.kind != "var" or atom.name != name:
            return None
        coefficients.extend([0] * (exponent + 1 - len(coefficients)))
        coefficients[exponent] += c
    return coefficients


def positive_roots(coefficients: Sequence[int]) -> list[int]:
    """Return the integer roots >= 1 of a polynomial (coefficients by ascending power).

    >>> from sagax._src.core.dims.solve import positive_roots
    >>> positive_roots([6, -5, 1])
    [2, 3]
    """
    # Cauchy's bound: no root is larger.
    highest = 1 + max(abs(c) for c in coefficients[:-1]) // abs(coefficients[-1])
    crossings = _crossings(coefficients, _turns(coefficients, highest), highest)
    return [x for x in crossings if _value(coefficients, x) == 0]


def _value(coefficients: Sequence[int], x: int) -> int:
    result = 0
    for c in reversed(coefficients):
        result = result * x + c
    return result


def _turns(coefficients: Sequence[int], highest: int) -> list[int]:
    """Return ascending integers up to ``highest`` between which the polynomial is monotone.

    Each begins an interval that ends before the next. Turns of the derivative are included: two zeros of
    the derivative between adjacent integers are visible only there.
    """
    if len(coefficients) <= 2:
        return [1]
    slope = [i * c for i, c in enumerate(coefficients)][1:]
    bends = _turns(slope, highest)
    crossings = _crossings(slope, bends, highest)
    turns = {*bends, *crossings, *[x + 1 for x in crossings]}
    return sorted(x for x in turns if x <= highest)


def _crossings(coefficients: Sequence[int], turns: Sequence[int], highest: int) -> list[int]:
    """Return the first integer at or beyond a zero in each of the monotone intervals."""
    found: list[int] = []
    for lo, after in zip(turns, [*turns[1:], highest + 1]):
        hi = after - 1
        sign = 1 if _value(coefficients, lo) <= _value(coefficients, hi) else -1
        if sign * _value(coefficients, lo) > 0 or sign * _value(coefficients, hi) < 0:
            continue
        while lo < hi:
            middle = (lo + hi) // 2
            if sign * _value(coefficients, middle) >= 0:
                hi = middle
            else:
                lo = middle + 1
        found.append(lo)
    return found


class _Search:
    """Enumerate the solutions of a few equations, within limits."""

    def __init__(
        self,
        scope: Scope,
        equations: Sequence[Relation],
        unknown: Sequence[str],
        known: Mapping[str, int],
    ):
        self.scope = scope
        self.equations = equations
        self.unknown = unknown
        self.known = known
        self.steps = _MAX_STEPS
        self.found: list[dict[str, int]] = []
        self.complete = True

    def run(self) -> tuple[list[dict[str, int]], bool]:
        """Return the solutions, and whether these are all."""
        self.branch({})
        return self.found, self.complete

    def branch(self, env: dict[str, int]) -> None:
        """Find the solutions that extend ``env``."""
        if self.steps <= 0 or len(self.found) > _MAX_CANDIDATES:
            self.complete = False
            return
        self.steps -= 1
        try:
            equations = [expression.substitute(e.difference, env) for e in self.equations]
        except ZeroDivisionError:
            return
        if any(type(e) is not Dim and e != 0 for e in equations):
            return
        left = [name for name in self.unknown if name not in env]
        if not left:
            if self.allowed(env):
                self.found.append({name: env[name] for name in self.unknown})
            return
        for e in equations:
            for name in left:
                coefficients = _polynomial(e, name)
                if coefficients is not None and len(coefficients) > 1:
                    for root in positive_roots(coefficients):
                        self.branch({**env, name: root})
                    return
        knowledge = Knowledge(self.scope)
        if not knowledge.add(self.facts(equations, env)):
            return
        name, values = self.choose(knowledge, equations, left)
        if values is None:
            self.complete = False
            return
        for value in values:
            self.branch({**env, name: value})

    def allowed(self, env: Mapping[str, int]) -> bool:
        if not isinstance(self.scope, SymbolicScope):
            return True
        values = self.scope.complete({**self.known, **env})
        return all(r.holds(values) for r in self.scope.relations if r.names <= values.keys())

    def facts(self, equations: Sequence[Size], env: Mapping[str, int]) -> Iterable[Relation]:
        """Return the scope's constraints, the values so far, and the equations."""
        if isinstance(self.scope, SymbolicScope):
            yield from self.scope.relations
        for name, value in {**self.known, **env}.items():
            yield Relation.of("", expression.variable(self.scope, name), "==", value)
        for e in equations:
            if type(e) is Dim:
                yield Relation.of("", e, "==", 0)

    def choose(
        self, knowledge: Knowledge, equations: Sequence[Size], left: Sequence[str]
    ) -> tuple[str, Iterable[int] | None]:
        """Return the unknown with the fewest candidates, and these; None if there are too many."""
        best: tuple[int, str, Iterable[int] | None] = (_MAX_VALUES + 1, left[0], None)
        for name in left:
            lo, hi = knowledge.bounds(expression.variable(self.scope, name))
            lo = 1 if lo is None else max(lo, 1)
            values: Sequence[int] | None = None
            if hi is not None and hi - lo < _MAX_VALUES:
                values = range(lo, hi + 1)
            for e in equations:
                divisors = _divisor_values(e, name)
                if divisors is not None and (values is None or len(divisors) < len(values)):
                    values = [d for d in divisors if lo <= d and (hi is None or d <= hi)]
            if values is not None and len(values) < best[0]:
                best = len(values), name, values
                if len(values) <= 1:
                    break
        return best[1], best[2]


def _divisor_values(e: Size, name: str) -> list[int] | None:
    """Return candidates for a variable that divides all terms of ``e`` but the constant, at roots of ``e``."""
    if type(e) is not Dim or not e.const or abs(e.const) > 1 << 40:
        return None
    for monomial, _ in e.terms:
        if not any(atom.kind == "var" and atom.name == name for atom, _ in monomial.factors):
            return None
    n = abs(e.const)
    small = [d for d in range(1, math.isqrt(n) + 1) if n % d == 0]
    return sorted({*small, *(n // d for d in small)})


def unsolvable(specs: Sequence[Shape], given: Iterable[str] = ()) -> list[str]:
    """Return the variables that the sizes of arguments of these shapes can never determine.

    Found by trial: sizes that the constraints allow are put in and solved for. ``given`` are
    variables whose values are passed directly. A variable that is determined, or narrowed to
    finitely many values, for some sizes is not listed.
    """
    given = set(given)
    scope = next((d.scope for shape in specs for d in shape if type(d) is Dim), None)
    if not isinstance(scope, SymbolicScope):
        return []
    names = frozenset[str]().union(*(expression.variables(d) for shape in specs for d in shape))
    stuck: set[str] | None = None
    for env in scope.knowledge.some_sizes(sorted(names | given)):
        try:
            pairs = [(shape, [expression.evaluate(d, env) for d in shape]) for shape in specs]
        except ZeroDivisionError:
            continue
        result = solve_dims(pairs, known={name: env[name] for name in given & names})
        if result.kind != "unsolved":
            return []
        missing = set(names - result.env.keys())
        stuck = missing if stuck is None else stuck & missing
    return sorted(stuck or ())
