"""Define atoms and monomials of symbolic expressions, and the tables that intern them.

Equal ones of a scope are the same object, so that they compare by identity and are cheap keys.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from sagax._src.languages.choice import worded

FUNCTIONS: dict[str, Callable[[int, int], int]] = {
    "floordiv": lambda x, y: x // y,
    "mod": lambda x, y: x % y,
    "max": max,
    "min": min,
}

Key = tuple[Any, ...]


class Atom:
    """Represent an opaque factor of polynomials: a variable, or an operation on two sizes."""

    __slots__ = ("key", "kind", "operands", "size")

    def __init__(self, kind: str, operands: tuple[Any, ...], size: int, key: Key):
        self.kind = kind  # "var" or a key of FUNCTIONS
        self.operands = operands  # (name,) for a variable, two sizes for an operation
        self.size = size  # an estimate of the text's length: sums print the longest term first
        self.key = key  # the sort key

    @property
    def name(self) -> str:
        """Return the name of a variable."""
        return self.operands[0]

    def evaluate(self, env: Mapping[str, int]) -> int:
        """Return the value for the values of the variables in ``env``."""
        if self.kind == "var":
            try:
                return int(env[self.operands[0]])
            except KeyError:
                given = ", ".join(sorted(env)) or "none"
                raise worded(
                    KeyError(
                        f"dimension variable {self.name!r} has no value; there are values for: {given}"
                    )
                ) from None
        x, y = [d if isinstance(d, int) else d.evaluate(env) for d in self.operands]
        return FUNCTIONS[self.kind](x, y)

    def __str__(self) -> str:
        if self.kind == "var":
            return self.name
        # A minus sign is followed by a space, as in sums.
        x, y = [f"- {-d}" if isinstance(d, int) and d < 0 else str(d) for d in self.operands]
        return f"{self.kind}({x}, {y})"

    __repr__ = __str__


class Monomial:
    """Represent a product of powers of atoms, largest atom first."""

    __slots__ = ("atom", "degree", "factors", "key", "order", "size")

    def __init__(self, factors: tuple[tuple[Atom, int], ...]):
        self.factors = factors
        self.degree = sum([exponent for _, exponent in factors])
        self.size = sum([atom.size * exponent + 1 for atom, exponent in factors])
        keys = tuple([(atom.key, exponent) for atom, exponent in factors])
        self.key: Key = (self.size, keys)  # for printing
        self.order: Key = (self.degree, keys)  # graded lexicographic, preserved by products
        self.atom = factors[0][0] if self.degree == 1 else None  # the only factor

    @property
    def is_variable(self) -> bool:
        """Return whether the monomial is a single variable."""
        return self.atom is not None and self.atom.kind == "var"

    def divides(self, other: Monomial) -> bool:
        """Return whether ``other`` has all factors of this monomial."""
        exponents = dict(other.factors)
        return all(exponents.get(atom, 0) >= exponent for atom, exponent in self.factors)

    def evaluate(self, env: Mapping[str, int]) -> int:
        """Return the value for the values of the variables in ``env``."""
        result = 1
        for atom, exponent in self.factors:
            result *= atom.evaluate(env) ** exponent
        return result

    def __str__(self) -> str:
        return "*".join(
            str(atom) if exponent == 1 else f"{atom}^{exponent}"
            for atom, exponent in reversed(self.factors)
        )

    __repr__ = __str__


class Tables:
    """Hold the interned objects of one scope; ``dict.setdefault`` is atomic across threads."""

    __slots__ = ("atoms", "dims", "monomials", "operations")

    def __init__(self) -> None:
        self.atoms: dict[Any, Atom] = {}
        self.monomials: dict[tuple[tuple[Atom, int], ...], Monomial] = {}
        self.dims: dict[Any, Any] = {}
        self.operations: dict[Any, Any] = {}  # results of operations on sizes


class Rule:
    """Rewrite ``coefficient * monomial`` to ``value``, by an equality constraint."""

    __slots__ = ("coefficient", "eliminates", "monomial", "value")

    def __init__(self, coefficient: int, monomial: Monomial, value: Any, eliminates: bool):
        self.coefficient = coefficient
        self.monomial = monomial
        self.value = value
        self.eliminates = eliminates  # whether the monomial disappears from all expressions
