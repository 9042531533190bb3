"""The parts of symbolic expressions: atoms, products of atoms, and the tables that intern them.

The same part of one scope is the same object, so parts compare by identity and are cheap keys.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

FUNCTIONS: dict[str, Callable[[int, int], int]] = {
    "floordiv": lambda x, y: x // y,
    "mod": lambda x, y: x % y,
    "max": max,
    "min": min,
}

Key = tuple[Any, ...]


class Atom:
    """A factor that polynomials do not look into: a variable, or an operation on two sizes."""

    __slots__ = ("key", "kind", "operands", "size")

    def __init__(self, kind: str, operands: tuple[Any, ...], size: int, key: Key):
        self.kind = kind  # "var" or a key of FUNCTIONS
        self.operands = operands  # (name,) for a variable, two sizes for an operation
        self.size = size  # how much text it is, roughly: sums are printed longest term first
        self.key = key  # orders atoms

    @property
    def name(self) -> str:
        """The name of a variable."""
        return self.operands[0]

    def evaluate(self, env: Mapping[str, int]) -> int:
        """The value when the variables have the values in ``env``."""
        if self.kind == "var":
            try:
                return int(env[self.operands[0]])
            except KeyError:
                given = ", ".join(sorted(env)) or "none"
                raise KeyError(
                    f"dimension variable {self.name!r} has no value; there are values for: {given}"
                ) from None
        x, y = [d if isinstance(d, int) else d.evaluate(env) for d in self.operands]
        return FUNCTIONS[self.kind](x, y)

    def __str__(self) -> str:
        if self.kind == "var":
            return self.name
        # A minus sign is printed apart here as it is in sums.
        x, y = [f"- {-d}" if isinstance(d, int) and d < 0 else str(d) for d in self.operands]
        return f"{self.kind}({x}, {y})"

    __repr__ = __str__


class Monomial:
    """A product of powers of atoms, largest atom first."""

    __slots__ = ("atom", "degree", "factors", "key", "order", "size")

    def __init__(self, factors: tuple[tuple[Atom, int], ...]):
        self.factors = factors
        self.degree = sum([exponent for _, exponent in factors])
        self.size = sum([atom.size * exponent + 1 for atom, exponent in factors])
        keys = tuple([(atom.key, exponent) for atom, exponent in factors])
        self.key: Key = (self.size, keys)  # of printing
        self.order: Key = (self.degree, keys)  # graded lexicographic: kept by products
        self.atom = factors[0][0] if self.degree == 1 else None  # if it is nothing else

    @property
    def is_variable(self) -> bool:
        """True for a variable alone."""
        return self.atom is not None and self.atom.kind == "var"

    def divides(self, other: Monomial) -> bool:
        """Whether ``other`` has all factors of this monomial."""
        exponents = dict(other.factors)
        return all(exponents.get(atom, 0) >= exponent for atom, exponent in self.factors)

    def evaluate(self, env: Mapping[str, int]) -> int:
        """The value when the variables have the values in ``env``."""
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
    """What one scope has interned. ``dict.setdefault`` is atomic: threads agree on one object."""

    __slots__ = ("atoms", "dims", "monomials", "operations")

    def __init__(self) -> None:
        self.atoms: dict[Any, Atom] = {}
        self.monomials: dict[tuple[tuple[Atom, int], ...], Monomial] = {}
        self.dims: dict[Any, Any] = {}
        self.operations: dict[Any, Any] = {}  # results of operations on sizes


class Rule:
    """``coefficient * monomial`` is to be replaced by ``value``: from an equality constraint."""

    __slots__ = ("coefficient", "eliminates", "monomial", "value")

    def __init__(self, coefficient: int, monomial: Monomial, value: Any, eliminates: bool):
        self.coefficient = coefficient
        self.monomial = monomial
        self.value = value
        self.eliminates = eliminates  # a variable or an operation that no expression has any more
