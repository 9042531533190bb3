"""Define scopes of dimension variables, with constraints and decisions."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple, cast

import sagax._src.core.dims.expression as expression
from sagax._src.core.dims.assume import Assumptions
from sagax._src.core.dims.decide import Knowledge, Relation
from sagax._src.core.dims.expression import Dim, Size
from sagax._src.core.dims.interval import Interval
from sagax._src.core.dims.monomial import Monomial, Rule, Tables
from sagax._src.core.dims.parse import parse_constraint, parse_dimension, parse_shape
from sagax._src.diagnostics import errors


class SymbolicScope:
    """Group dimension variables with constraints on them.

    ``constraints_str`` is a sequence of texts ``"x >= y"``, ``"x <= y"`` or ``"x == y"`` over dimension
    expressions. Every variable is at least 1. The same name in two scopes denotes two sizes, which cannot
    be combined. Raises ValueError for invalid and for unsatisfiable constraints.

    >>> from sagax._src.core import dims
    >>> scope = dims.SymbolicScope(["a >= 4"])
    >>> (a,) = dims.symbolic_shape("a", scope=scope)
    >>> a >= 3
    True
    """

    def __init__(self, constraints_str: Sequence[str] = ()):
        argument: Any = constraints_str
        is_sequence = isinstance(argument, Iterable) and not isinstance(argument, str)
        texts: tuple[Any, ...] | None = tuple(cast(Any, argument)) if is_sequence else None
        if texts is None or not all(isinstance(text, str) for text in texts):
            raise errors.ArgumentValueError(
                function="SymbolicScope",
                argument="constraints",
                got=repr(constraints_str),
                expected="a sequence of strings",
                fix='write for example constraints=["a >= 2"]',
            )
        self.constraints = texts
        self.tables = Tables()
        self.rules: list[Rule] = []
        self.divisors: list[tuple[Monomial, int]] = []  # products known to be multiples of ints
        self.name = f"the scope with {list(texts)}" if texts else "a scope without constraints"
        self.knowledge = Knowledge(self)
        self.noted = Assumptions()  # all assumptions about its variables
        for text in self.constraints:
            self._constrain(text)

    def _constrain(self, text: str) -> None:
        lhs, op, rhs = parse_constraint(self, text)
        relation = Relation.of(text, lhs, op, rhs)
        difference = relation.difference
        quotients = _known_remainders(lhs, rhs) if relation.op == "==" else []
        if type(difference) is not Dim:
            possible = difference == 0 if relation.op == "==" else difference >= 0
        else:
            possible = self.knowledge.add(
                [relation, *[Relation.of(text, q.multiple, "==", q.value) for q in quotients]]
            )
        if not possible:
            others = [t for t in self.constraints if t != text]
            raise errors.ArgumentValueError(
                f"Unsatisfiable constraint {text!r}: no sizes satisfy it"
                + (f" together with the other constraints {others}" if others else "")
                + "; every dimension variable is at least 1",
                function="SymbolicScope",
            )
        if relation.op == "==" and type(difference) is Dim:
            self._add_rule(lhs, rhs)
            for quotient in quotients:
                self._add_rule(quotient.multiple, quotient.value)
                if quotient.product is not None:
                    self.divisors.append(quotient.product)
        # Earlier results may simplify further with the constraint.
        self.tables.operations.clear()

    def _add_rule(self, lhs: Size, rhs: Size) -> None:
        """Add a rewrite rule for an equality, if one side can replace the other.

        A variable or an operation that the other side does not contain is replaced everywhere. A
        product is replaced by terms before it in the graded order of monomials, so that rewriting
        terminates. Other equalities are known facts only.
        """
        rule = _rewrite_rule(lhs, rhs) or _rewrite_rule(rhs, lhs)
        if rule is None:
            return
        self.rules.append(rule)
        for other in self.rules:
            other.value = expression.substitute(other.value, {})  # to the current normal form
        replaced = {r.monomial for r in self.rules if r.eliminates}
        self.rules = [
            r
            for r in self.rules
            if r.eliminates or not any(m.divides(r.monomial) for m in replaced)
        ]

    # A copy that is another scope could not be combined with the original.
    def __copy__(self) -> SymbolicScope:
        return self

    def __deepcopy__(self, memo: Any) -> SymbolicScope:
        return self

    def __reduce__(self) -> Any:
        return SymbolicScope, (self.constraints,)

    def __repr__(self) -> str:
        return f"SymbolicScope({list(self.constraints)})"

    @property
    def relations(self) -> tuple[Relation, ...]:
        """Return the constraints, to check against actual sizes."""
        return tuple(self.knowledge.relations)

    def complete(self, env: Mapping[str, int]) -> dict[str, int]:
        """Add to ``env`` the variables that equality constraints express by others."""
        result = dict(env)
        for rule in self.rules:
            atom = rule.monomial.atom
            if rule.eliminates and atom is not None and atom.kind == "var":
                if expression.variables(rule.value) <= env.keys():
                    result[atom.name] = expression.evaluate(rule.value, env)
        return result

    def read(self, text: str) -> Size:
        """Parse one dimension of a specification."""
        return parse_dimension(self, text)

    def decide(self, e: Dim, op: str) -> bool | None:
        """Return whether ``e op 0`` (``>=`` or ``==``) holds for all sizes, none, or some (None)."""
        return self.knowledge.decide(e, op)

    def bounds(self, e: Size) -> Interval:
        """Return the least and the greatest value of ``e``; None = unbounded."""
        return self.knowledge.bounds(e)

    def inconclusive(self, lhs: Size, op: str, rhs: Size) -> errors.InconclusiveDimensionOperation:
        """Return the error for an inconclusive comparison, with a constraint that decides it.

        Its ``facts`` are ``lhs``, ``op``, ``rhs`` and ``constraint``, a text for `symbolic_shape`
        that is verified to decide the comparison, or None.
        """
        equality = op in ("==", "!=")
        gap = expression.subtract(rhs, lhs) if op in ("<=", "<") else expression.subtract(lhs, rhs)
        if op in ("<", ">"):
            gap = expression.subtract(gap, 1)
        assert type(gap) is Dim  # constants compare
        lines = [
            f"Symbolic dimension comparison '{lhs}' {op} '{rhs}' is inconclusive:"
            f" the answer depends on the sizes."
        ]
        for holds in (True, False):
            example = self.knowledge.example(gap, "==" if equality else ">=", holds)
            if example is not None:
                sizes = ", ".join(f"{name} = {value}" for name, value in example.items())
                lines.append(f"  {'true' if holds != (op == '!=') else 'false'} for {sizes}")
        if self.constraints:
            lines.append(f"  known: {', '.join(self.constraints)}")
        constraint = self._deciding_constraint(gap, equality)
        fix = None
        if constraint is not None:
            fix = (
                "if it always holds, say so where the dimensions are made:"
                f' constraints=["{constraint}"]'
            )
        return errors.InconclusiveDimensionOperation(
            "\n".join(lines), lhs=lhs, op=op, rhs=rhs, constraint=constraint, fix=fix
        )

    def _deciding_constraint(self, gap: Dim, equality: bool) -> str | None:
        """Return a constraint that decides ``gap >= 0`` (or ``== 0``), verified in its own scope."""
        if equality:  # equal sizes are the exception, so propose an inequality
            sides = (expression.subtract(gap, 1), expression.subtract(expression.scale(gap, -1), 1))
        else:
            sides = (gap,)
            if len(gap.terms) == 1 and gap.terms[0][0].is_variable and gap.terms[0][1] < 0:
                # prefer large sizes: code tests for small ones to handle special cases
                sides = (expression.subtract(expression.scale(gap, -1), 1), gap)
        for side in sides:
            for text in _constraint_texts(side):
                try:
                    scope = SymbolicScope((*self.constraints, text))
                except ValueError:
                    continue
                names = expression.variables(gap)
                renamed = {name: expression.variable(scope, name) for name in names}
                trial = expression.substitute(gap, renamed)
                if expression.compare(trial, "==" if equality else ">=", 0) is not None:
                    return text
        return None


class _KnownRemainder(NamedTuple):
    """Hold the fact of ``mod(x, d) == r``: ``d * floordiv(x, d)`` is ``x - r``."""

    multiple: Size
    value: Size
    product: tuple[Monomial, int] | None  # x and d, where d is an int and divides a product


def _known_remainders(lhs: Size, rhs: Size) -> list[_KnownRemainder]:
    """Return the quotients whose remainder, an int, an equality determines."""
    found: list[_KnownRemainder] = []
    for side, rest in ((lhs, rhs), (rhs, lhs)):
        if type(side) is not Dim or side.const or len(side.terms) != 1 or type(rest) is Dim:
            continue
        monomial, coefficient = side.terms[0]
        if coefficient != 1 or monomial.atom is None or monomial.atom.kind != "mod":
            continue
        x, d = monomial.atom.operands
        quotient = expression.from_operation(side.scope, "floordiv", (x, d))
        product = None
        if type(x) is Dim and not x.const and len(x.terms) == 1 and x.terms[0][1] == 1:
            if rest == 0 and type(d) is int and d > 1:
                product = x.terms[0][0], d
        found.append(_KnownRemainder(expression.multiply(quotient, d), x - rest, product))
    return found


def _rewrite_rule(lhs: Size, rhs: Size) -> Rule | None:
    if type(lhs) is not Dim or lhs.const or len(lhs.terms) != 1:
        return None
    monomial, coefficient = lhs.terms[0]
    value = expression.scale(rhs, 1 if coefficient > 0 else -1)
    coefficient = abs(coefficient)
    if coefficient == 1 and monomial.atom is not None:
        if monomial.atom in expression.atoms(value):
            return None
        return Rule(1, monomial, value, eliminates=True)
    if type(value) is Dim:
        if coefficient > 1 and not value.const and len(value.terms) == 1 and value.terms[0][1] == 1:
            swapped = value.terms[0][0]  # rewrite a to 2*b for 2*b == a
            if swapped.atom is not None and swapped.atom not in expression.atoms(lhs):
                return Rule(1, swapped, lhs, eliminates=True)
        if any(m.order >= monomial.order for m, _ in value.terms):
            return None
    return Rule(coefficient, monomial, value, eliminates=False)


def _constraint_texts(gap: Size) -> Iterator[str]:
    """Yield constraints that mean ``gap >= 0``, the most readable first."""
    if type(gap) is not Dim:
        return
    if len(gap.terms) == 1:
        monomial, c = gap.terms[0]
        if c > 0:
            yield f"{monomial} >= {-(gap.const // c)}"
        else:
            yield f"{monomial} <= {gap.const // -c}"
        return
    positive: Size = 0
    negative: Size = 0
    for monomial, c in gap.terms:
        term = expression.scale(expression.from_monomial(gap.scope, monomial), c)
        if c > 0:
            positive = expression.add(positive, term)
        else:
            negative = expression.subtract(negative, term)
    if gap.const > 0:
        positive = expression.add(positive, gap.const)
    else:
        negative = expression.subtract(negative, gap.const)
    yield f"{positive} >= {negative}"
    yield f"{gap} >= 0"


def symbolic_shape(
    shape_spec: str | None,
    *,
    constraints: Sequence[str] = (),
    scope: SymbolicScope | None = None,
    like: Sequence[Any] | None = None,
) -> tuple[Size, ...]:
    """Parse a specification such as ``"b, 2*n, 3"`` to a shape: a tuple of ints and Dims.

    Entries are separated by commas: sums and products of integers and variables, ``a^2``,
    ``floordiv(x, y)``, ``mod(x, y)``, ``max(x, y)``, ``min(x, y)``; ``_`` and a final ``...`` (or
    None for the whole specification) are filled in from ``like``.

    The variables belong to ``scope``, or to a new scope with the given ``constraints``, texts such
    as ``"a >= 2*b"`` (see `SymbolicScope`). Raises ValueError for an invalid specification.

    >>> from sagax._src.core import dims
    >>> dims.symbolic_shape("b, _, 2*n", like=(None, 8, None))
    (b, 8, 2*n)
    """
    text: Any = "..." if shape_spec is None else shape_spec
    if not isinstance(text, str):
        raise errors.ArgumentValueError(
            function="symbolic_shape",
            argument="shape_spec",
            got=shape_spec,
            expected="a string such as 'b, 2*n', or None",
        )
    if scope is None:
        scope = SymbolicScope(constraints)
    elif not isinstance(cast(Any, scope), SymbolicScope):
        raise errors.ArgumentError(
            function="symbolic_shape",
            argument="scope",
            got=repr(scope),
            expected="a SymbolicScope, or None for a new one",
        )
    elif constraints:
        raise errors.ArgumentValueError(
            "Cannot specify both a scope and constraints: a scope has its own constraints",
            function="symbolic_shape",
            fix="give the constraints where the scope is made: SymbolicScope(constraints)",
        )
    return parse_shape(scope, text, like)


def bounds(x: Size) -> Interval:
    """Return the least and the greatest value that ``x`` can have; None on an unbounded side.

    They are attained if the expression and the constraints are linear, else possibly wider.

    >>> from sagax._src.core import dims
    >>> a, b = dims.symbolic_shape("a, b", constraints=["a >= b + 2", "b <= 7"])
    >>> dims.bounds(a - b), dims.bounds(b % 3)
    ((2, None), (0, 2))
    """
    return x.scope.bounds(x) if type(x) is Dim else (x, x)
