"""Symbolic sizes: integer polynomials over variables, ``floordiv``, ``mod``, ``max`` and ``min``.

A `Dim` is kept in a normal form and interned in its scope: the same expression is the same object,
so that identity is a (sound) equality test and shapes are cheap keys. A result that has no variable
left is a plain ``int``, never a Dim.

What is known about the variables (constraints, decisions) belongs to the scope, which is asked.
"""

# pyright: reportPrivateUsage=false
# (Dim keeps what these functions put into it.)

from __future__ import annotations

import itertools
import math
import operator
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Protocol, TypeAlias, cast, final

import numpy as np

from sagax._src.core.dims.assume import Assumptions, note_assumption
from sagax._src.core.dims.monomial import FUNCTIONS, Atom, Key, Monomial, Rule, Tables
from sagax._src.diagnostics import errors


class Scope(Protocol):
    """What expressions need from the scope they live in."""

    name: str
    tables: Tables
    rules: list[Rule]
    divisors: list[tuple[Monomial, int]]
    noted: Assumptions

    def decide(self, e: Dim, op: str) -> bool | None:
        """Whether ``e op 0`` holds for all sizes, for none, or for some (None)."""
        ...

    def bounds(self, e: Size) -> tuple[int | None, int | None]:
        """The least and the greatest value of ``e``; None = unbounded."""
        ...

    def read(self, text: str) -> Size:
        """The size that prints as ``text``."""
        ...

    def inconclusive(self, lhs: Size, op: str, rhs: Size) -> Exception:
        """The error for a comparison that has no single answer."""
        ...


# Socket: core installs the conversion of a size to an array value, for `dim * array`, `dim / 2`,
# `dim < 1.5`. Without it Python refuses such operations as unsupported.
_dim_as_value: Callable[[Dim], Any] | None = None


def set_dim_as_value(convert: Callable[[Dim], Any] | None) -> None:
    """Install what turns a Dim into an array value (a tracer) in arithmetic with values."""
    global _dim_as_value
    _dim_as_value = convert


def _constant(x: Any) -> int | None:
    """``x`` as an int if it is an int, a NumPy integer or a 0-d integer array, else None."""
    if isinstance(x, int):
        return int(x)
    if isinstance(x, np.integer):
        return int(cast(int, x))
    if isinstance(x, np.ndarray):
        return zero_dimensional_integer(cast(Any, x))
    return None


def zero_dimensional_integer(x: Any) -> int | None:
    """The int in a 0-d array of integers, None for other arrays."""
    return int(x) if x.ndim == 0 and x.dtype.kind in "iu" else None


def _on_sizes(
    sizes: Callable[[Size, Size], Any], values: Callable[[Any, Any], Any], x: Any, y: Any
) -> Any:
    """``x`` or ``y`` is a Dim: on sizes if the other is an integer, else on values."""
    a = x if type(x) is Dim else _constant(x)
    b = y if type(y) is Dim else _constant(y)
    if a is None or b is None:
        return _on_values(values, x, y)
    return sizes(a, b)


def _on_values(values: Callable[[Any, Any], Any], x: Any, y: Any) -> Any:
    """The operation on array values, or NotImplemented: Python then asks the other operand."""
    if _dim_as_value is None:
        return NotImplemented
    for operand in (x, y):
        # Floats, arrays and tracers; anything else has its own opinion, or none.
        if not (isinstance(operand, int | float | complex | Dim) or hasattr(operand, "dtype")):
            return NotImplemented
    x = _dim_as_value(x) if type(x) is Dim else x
    y = _dim_as_value(y) if type(y) is Dim else y
    return values(x, y)


@final
class Dim:
    """A symbolic size: an integer expression over variables, usable wherever an int size is.

    Made by `symbolic_shape` and by arithmetic on its results. ``+ - * // % divmod **`` and
    comparisons work with ints, NumPy integers and Dims of the same scope; a result without
    variables is an int. Order comparisons that depend on the sizes raise
    `InconclusiveDimensionOperation`; ``==`` then answers False and the assumption is recorded
    (see `assumptions`).

    >>> from sagax._src.core import dims
    >>> a, b = dims.symbolic_shape("a, b")
    >>> 2 * b + 1, (a * b + a) // (b + 1), (6 * a + 4) % 3, a // 2
    (2*b + 1, a, 1, floordiv(a, 2))
    """

    __slots__ = ("__weakref__", "_hash", "_key", "_text", "const", "scope", "terms")

    # NumPy must not take `np_scalar + dim` for an operation on object arrays.
    __array_ufunc__ = None

    terms: tuple[tuple[Monomial, int], ...]  # without the constant, in printing order
    const: int
    scope: Scope
    _hash: int
    _text: str | None
    _key: Key | None

    def __init__(self) -> None:
        raise TypeError("Dim has no public constructor; symbolic_shape('b, 2*n') makes Dims")

    # Interned in the scope: a copy is the same object.

    def __copy__(self) -> Dim:
        return self

    def __deepcopy__(self, memo: Any) -> Dim:
        return self

    def __reduce__(self) -> Any:
        return _read, (self.scope, str(self))

    def __hash__(self) -> int:
        return self._hash

    def __str__(self) -> str:
        text = self._text
        if text is None:
            text = self._text = _format(self)
        return text

    __repr__ = __str__

    def __add__(self, other: Any) -> Any:
        return _on_sizes(add, operator.add, self, other)

    def __radd__(self, other: Any) -> Any:
        return _on_sizes(add, operator.add, other, self)

    def __sub__(self, other: Any) -> Any:
        return _on_sizes(subtract, operator.sub, self, other)

    def __rsub__(self, other: Any) -> Any:
        return _on_sizes(subtract, operator.sub, other, self)

    def __mul__(self, other: Any) -> Any:
        return _on_sizes(multiply, operator.mul, self, other)

    def __rmul__(self, other: Any) -> Any:
        return _on_sizes(multiply, operator.mul, other, self)

    def __floordiv__(self, other: Any) -> Any:
        return _on_sizes(floordiv, lambda x, y: x // y, self, other)

    def __rfloordiv__(self, other: Any) -> Any:
        return _on_sizes(floordiv, lambda x, y: x // y, other, self)

    def __mod__(self, other: Any) -> Any:
        return _on_sizes(mod, operator.mod, self, other)

    def __rmod__(self, other: Any) -> Any:
        return _on_sizes(mod, operator.mod, other, self)

    def __divmod__(self, other: Any) -> Any:
        return _on_sizes(quotient_and_remainder, divmod, self, other)

    def __rdivmod__(self, other: Any) -> Any:
        return _on_sizes(quotient_and_remainder, divmod, other, self)

    # Quotients are no sizes: they are array values, as are powers with an unknown exponent.

    def __truediv__(self, other: Any) -> Any:
        return _on_values(lambda x, y: x / y, self, other)

    def __rtruediv__(self, other: Any) -> Any:
        return _on_values(lambda x, y: x / y, other, self)

    def __pow__(self, exponent: Any) -> Any:
        constant = None if type(exponent) is Dim else _constant(exponent)
        if constant is None:
            return _on_values(lambda x, y: x**y, self, exponent)
        return power(self, constant)

    def __rpow__(self, base: Any) -> Any:
        return _on_values(lambda x, y: x**y, base, self)

    def __neg__(self) -> Any:
        return scale(self, -1)

    def __pos__(self) -> Dim:
        return self

    def __eq__(self, other: object) -> Any:
        if self is other:
            return True
        if type(other) is Dim:
            if other.scope is not self.scope:
                return False
        else:
            constant = _constant(other)
            if constant is None:
                if isinstance(other, np.ndarray) and _dim_as_value is not None:
                    return _dim_as_value(self) == other
                # Other arrays compare by their own method; to anything else a size is unequal.
                return NotImplemented
            other = constant
        answer = equal(self, other)
        if answer is None:
            note_assumption("!=", self, other)
            return False
        return answer

    def __ne__(self, other: object) -> Any:
        answer = self.__eq__(other)
        return answer if answer is NotImplemented else not answer

    def __lt__(self, other: Any) -> Any:
        return _order(self, "<", other)

    def __le__(self, other: Any) -> Any:
        return _order(self, "<=", other)

    def __gt__(self, other: Any) -> Any:
        return _order(self, ">", other)

    def __ge__(self, other: Any) -> Any:
        return _order(self, ">=", other)

    def __format__(self, spec: str) -> str:
        return format(str(self), spec)

    def __bool__(self) -> bool:
        return self != 0

    def __index__(self) -> int:
        raise errors.InconclusiveDimensionOperation(
            f"Symbolic dimension '{self}' used in a context that requires a constant:"
            " its value is known only when the program is called",
            fix="use it as a size, in integer arithmetic of sizes, or as an array value, as in"
            " jnp.arange(x.shape[0]) and x * x.shape[0]",
        )

    __int__ = __index__

    def __jax_array__(self) -> Any:
        """The size as an array value, where one is asked for."""
        if _dim_as_value is None:
            raise TypeError(f"the size {self} cannot become an array here")
        return _dim_as_value(self)

    def evaluate(self, env: Mapping[str, int]) -> int:
        """The value of the expression when its variables have the values in ``env``."""
        return self.const + sum(c * monomial.evaluate(env) for monomial, c in self.terms)


Size: TypeAlias = int | Dim


def _read(scope: Scope, text: str) -> Size:
    return scope.read(text)  # for pickles


def _order(lhs: Dim, op: str, other: Any) -> Any:
    rhs = other if type(other) is Dim else _constant(other)
    if rhs is None:
        return _on_values(_ORDERS[op], lhs, other)
    answer = compare(lhs, op, rhs)
    if answer is None:
        raise lhs.scope.inconclusive(lhs, op, rhs)
    return answer


_ORDERS: dict[str, Callable[[Any, Any], Any]] = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}


# building -----------------------------------------------------------------------------------------


def variable(scope: Scope, name: str) -> Size:
    """The variable ``name`` of ``scope`` as a size."""
    return from_atom(scope, _atom(scope, "var", (name,)))


def _atom(scope: Scope, kind: str, operands: tuple[Any, ...]) -> Atom:
    # Operands of operations are sizes: ints, or Dims, which must not be compared by `==` here.
    key = (kind, *(id(x) if type(x) is Dim else (x,) for x in operands))
    atom = scope.tables.atoms.get(key)
    if atom is None:
        if kind == "var":
            made = Atom(kind, operands, 1, (1, operands[0]))
        else:
            size = 1 + sum([_size_of(x) for x in operands])
            made = Atom(kind, operands, size, (size, kind, tuple([_key_of(x) for x in operands])))
        atom = scope.tables.atoms.setdefault(key, made)
    return atom


def from_atom(scope: Scope, atom: Atom) -> Size:
    """The atom as a size."""
    return build(scope, {_monomial(scope, ((atom, 1),)): 1}, 0)


def from_operation(scope: Scope, kind: str, operands: tuple[Size, Size]) -> Size:
    """The operation as a size, without any simplification of it."""
    return from_atom(scope, _atom(scope, kind, operands))


def from_monomial(scope: Scope, monomial: Monomial, without: Atom | None = None) -> Size:
    """The monomial as a size, one factor ``without`` left out if given."""
    if without is None:
        return build(scope, {monomial: 1}, 0)
    exponents = dict(monomial.factors)
    exponents[without] -= 1
    if not exponents[without]:
        del exponents[without]
    return build(scope, {_sorted_monomial(scope, exponents): 1}, 0) if exponents else 1


def variable_monomial(scope: Scope, name: str) -> Monomial:
    """The monomial that is just the variable ``name``, equality constraints disregarded."""
    return _monomial(scope, ((_atom(scope, "var", (name,)), 1),))


# Far beyond sizes of arrays, so that specifications from outside take no time.
_HIGHEST_DEGREE = 64
_MOST_PRODUCTS = 10_000


def _monomial(scope: Scope, factors: tuple[tuple[Atom, int], ...]) -> Monomial:
    monomial = scope.tables.monomials.get(factors)
    if monomial is None:
        if sum([exponent for _, exponent in factors]) > _HIGHEST_DEGREE:
            raise errors.ArgumentValueError(
                f"a symbolic dimension is a product of more than {_HIGHEST_DEGREE} factors"
            )
        monomial = scope.tables.monomials.setdefault(factors, Monomial(factors))
    return monomial


def _multiply_monomials(scope: Scope, x: Monomial, y: Monomial) -> Monomial:
    exponents = dict(x.factors)
    for atom, exponent in y.factors:
        exponents[atom] = exponents.get(atom, 0) + exponent
    return _sorted_monomial(scope, exponents)


def _sorted_monomial(scope: Scope, exponents: Mapping[Atom, int]) -> Monomial:
    factors = sorted(exponents.items(), key=lambda item: item[0].key, reverse=True)
    return _monomial(scope, tuple(factors))


def build(scope: Scope, terms: dict[Monomial, int], const: int) -> Size:
    """The size ``const + sum(coefficient * monomial)``, in normal form."""
    if scope.rules:
        return _build_with_rules(scope, terms, const)
    return _intern(scope, terms, const)


def _intern(scope: Scope, terms: dict[Monomial, int], const: int) -> Size:
    pairs = [item for item in terms.items() if item[1]]
    if not pairs:
        return const
    if len(pairs) > 1:
        pairs.sort(key=lambda item: item[0].key, reverse=True)
    return _interned(scope, tuple(pairs), const)


_serial = itertools.count(1)


def _next_hash() -> int:
    """A hash that no other Dim has: no dictionary look-up may set off an `==`, which is a decision.

    (Hashing the terms would not do: Python's -1 and -2 have the same hash.) Multiples of a large
    odd number are distinct, keep away from the hashes of ints, and are the same in every run.
    """
    return next(_serial) * 0x9E3779B97F4A7C15 % (1 << 61)


def _interned(scope: Scope, terms: tuple[tuple[Monomial, int], ...], const: int) -> Dim:
    key = (terms, const)
    found = scope.tables.dims.get(key)
    if found is not None:
        return found
    dim = object.__new__(Dim)
    dim.terms = terms
    dim.const = const
    dim.scope = scope
    dim._hash = _next_hash()
    dim._text = None
    dim._key = None
    return scope.tables.dims.setdefault(key, dim)


def _build_with_rules(scope: Scope, terms: dict[Monomial, int], const: int) -> Size:
    """Replace what the scope's equality constraints define, until nothing is left to replace."""
    for monomial, coefficient in terms.items():
        if not coefficient:
            continue
        for rule in scope.rules:
            if coefficient % rule.coefficient:
                continue
            rest = _divide_monomials(scope, monomial, rule.monomial)
            if rest is not None:
                others = dict(terms)
                del others[monomial]
                factor = scale(build(scope, *rest), coefficient // rule.coefficient)
                return add(build(scope, others, const), multiply(factor, rule.value))
    return _intern(scope, terms, const)


def _same_scope(x: Dim, y: Dim, operator: str) -> Scope:
    if x.scope is not y.scope:
        raise errors.ArgumentValueError(
            f"Invalid mixing of symbolic scopes: '{x}' {operator} '{y}', where '{x}' belongs to"
            f" {x.scope.name} and '{y}' to {y.scope.name}.\nEvery call of symbolic_shape without"
            f" scope= makes a new scope, in which a name means another size. Give all"
            f" specifications of one program the same scope, for example"
            f" symbolic_shape(..., scope={_first_name(x)}.scope)."
        )
    return x.scope


def _scope_of(x: Size, y: Size) -> Scope:
    for d in (x, y):
        if type(d) is Dim:
            return d.scope
    raise TypeError(f"no symbolic size among {x}, {y}")


def _first_name(x: Dim) -> str:
    return min(variables(x))


# arithmetic ---------------------------------------------------------------------------------------


def add(x: Size, y: Size) -> Size:
    if type(x) is not Dim:
        if type(y) is not Dim:
            return x + y
        x, y = y, x
    if type(y) is not Dim:
        if not y:
            return x
        return _interned(x.scope, x.terms, x.const + y)
    scope = _same_scope(x, y, "+")
    terms = dict(x.terms)
    for monomial, coefficient in y.terms:
        terms[monomial] = terms.get(monomial, 0) + coefficient
    return build(scope, terms, x.const + y.const)


def scale(x: Size, factor: int) -> Size:
    if type(x) is not Dim:
        return x * factor
    if factor == 1:
        return x
    return build(x.scope, {m: c * factor for m, c in x.terms}, x.const * factor)


def subtract(x: Size, y: Size) -> Size:
    return add(x, scale(y, -1))


def multiply(x: Size, y: Size) -> Size:
    if type(x) is not Dim:
        return scale(y, x)
    if type(y) is not Dim:
        return scale(x, y)
    scope = _same_scope(x, y, "*")
    if len(x.terms) * len(y.terms) > _MOST_PRODUCTS:
        raise errors.ArgumentValueError(
            f"a symbolic dimension has more than {_MOST_PRODUCTS} products of terms"
        )
    terms: dict[Monomial, int] = {}
    for m, c in x.terms:
        for n, d in y.terms:
            product = _multiply_monomials(scope, m, n)
            terms[product] = terms.get(product, 0) + c * d
        if y.const:
            terms[m] = terms.get(m, 0) + c * y.const
    if x.const:
        for n, d in y.terms:
            terms[n] = terms.get(n, 0) + d * x.const
    return build(scope, terms, x.const * y.const)


def power(x: Size, exponent: int) -> Size:
    """``x`` to a constant power."""
    if exponent < 0:
        raise errors.ArgumentValueError(
            f"Symbolic dimension cannot be raised to negative powers: '{x}' ** {exponent} is not"
            " an integer"
        )
    result: Size = 1
    for _ in range(exponent):
        result = multiply(result, x)
    return result


def divide(x: Size, y: Size) -> tuple[Size, Size]:
    """Polynomial division: ``q, r`` with ``x == q*y + r`` and no more of ``y`` in ``r``."""
    if type(y) is not Dim:
        if type(x) is not Dim:
            return divmod(x, y)
        # By a constant: only if the remainder is constant too, for it could be cut off anywhere.
        if all(c % y == 0 for _, c in x.terms):
            quotient, remainder = divmod(x.const, y)
            return build(x.scope, {m: c // y for m, c in x.terms}, quotient), remainder
        return 0, x
    scope = y.scope
    lead, lead_coefficient = max(y.terms, key=lambda item: item[0].order)
    quotient: Size = 0
    rest = x
    while type(rest) is Dim:
        monomial, coefficient = max(rest.terms, key=lambda item: item[0].order)
        ratio = _divide_monomials(scope, monomial, lead)
        if ratio is None or coefficient % lead_coefficient:
            break
        step = build(scope, ratio[0], ratio[1])
        step = scale(step, coefficient // lead_coefficient)
        smaller = subtract(rest, multiply(step, y))
        if type(smaller) is Dim and max(m.order for m, _ in smaller.terms) >= monomial.order:
            break  # equality constraints may rewrite a product to a larger one
        quotient = add(quotient, step)
        rest = smaller
    return quotient, rest


def _divide_monomials(
    scope: Scope, x: Monomial, y: Monomial
) -> tuple[dict[Monomial, int], int] | None:
    """``x / y`` as (terms, constant), or None if ``y`` does not divide ``x``."""
    exponents = dict(x.factors)
    for atom, exponent in y.factors:
        left = exponents.get(atom, 0) - exponent
        if left < 0:
            return None
        if left:
            exponents[atom] = left
        else:
            del exponents[atom]
    if not exponents:
        return {}, 1
    return {_sorted_monomial(scope, exponents): 1}, 0


def floordiv(x: Size, y: Size) -> Size:
    """``x // y``: simplified where the remainder is known, else an operation."""
    return quotient_and_remainder(x, y)[0]


def mod(x: Size, y: Size) -> Size:
    """``x % y``: simplified where the remainder is known, else an operation."""
    return quotient_and_remainder(x, y)[1]


def quotient_and_remainder(x: Size, y: Size) -> tuple[Size, Size]:
    """``divmod(x, y)``."""
    if type(x) is not Dim and type(y) is not Dim:
        return divmod(x, y)
    if type(y) is not Dim and y == 0:
        raise ZeroDivisionError(f"division of the symbolic dimension '{x}' by zero")
    if type(x) is Dim and type(y) is Dim:
        _same_scope(x, y, "//")
    scope = _scope_of(x, y)
    key = ("divmod", _token(x), _token(y))
    found = scope.tables.operations.get(key)
    if found is None:
        quotient, rest = divide(x, y)
        if type(rest) is Dim and type(y) is not Dim and scope.divisors:
            whole, rest = _divide_known_multiples(rest, y)
            quotient = add(quotient, whole)
        if not (type(rest) is not Dim and rest == 0) and not _is_remainder(rest, y):
            operands = (x, y)
            quotient = from_operation(scope, "floordiv", operands)
            rest = from_operation(scope, "mod", operands)
        found = scope.tables.operations.setdefault(key, (quotient, rest))
    return found


def _divide_known_multiples(x: Dim, y: int) -> tuple[Size, Size]:
    """``q, r`` with ``x == q*y + r``, where constraints say that products are multiples.

    ``r`` has no variables, or the result is ``0, x``.
    """
    scope = x.scope
    quotient, rest = divmod(x.const, y)
    total: Size = quotient
    for monomial, coefficient in x.terms:
        left: Monomial | None = monomial
        quotients: Size = 1
        while left is not None and coefficient % y:
            found = _known_multiple(scope, left, math.gcd(coefficient, y), y)
            if found is None:
                return 0, x
            product, divisor, left = found
            coefficient *= divisor
            whole = from_monomial(scope, product)
            quotients = multiply(quotients, from_operation(scope, "floordiv", (whole, divisor)))
        if coefficient % y:
            return 0, x
        if left is not None:
            quotients = multiply(quotients, from_monomial(scope, left))
        total = add(total, scale(quotients, coefficient // y))
    return total, rest


def _known_multiple(
    scope: Scope, monomial: Monomial, have: int, wanted: int
) -> tuple[Monomial, int, Monomial | None] | None:
    """A factor of ``monomial`` that is a multiple of an int, which makes ``have`` divide by more.

    The factor, the int, and the monomial without the factor (None: nothing is left).
    """
    for product, divisor in scope.divisors:
        if product.divides(monomial) and math.gcd(have * divisor, wanted) > have:
            exponents = dict(monomial.factors)
            for atom, exponent in product.factors:
                exponents[atom] -= exponent
            exponents = {atom: exponent for atom, exponent in exponents.items() if exponent}
            return product, divisor, _sorted_monomial(scope, exponents) if exponents else None
    return None


def _is_remainder(rest: Size, divisor: Size) -> bool:
    """True if ``rest`` provably lies between zero and the divisor, as Python's ``%`` leaves it."""
    if compare(rest, ">=", 0) and compare(rest, "<", divisor):
        return True
    return bool(compare(rest, "<=", 0) and compare(rest, ">", divisor))


def maximum(x: Size, y: Size) -> Size:
    """The larger of two sizes."""
    return _extremum("max", ">=", x, y)


def minimum(x: Size, y: Size) -> Size:
    """The smaller of two sizes."""
    return _extremum("min", "<=", x, y)


def _extremum(kind: str, op: str, x: Size, y: Size) -> Size:
    if type(x) is not Dim and type(y) is not Dim:
        return FUNCTIONS[kind](x, y)
    scope = _scope_of(x, y)
    key = (kind, _token(x), _token(y))
    found = scope.tables.operations.get(key)
    if found is None:
        if type(x) is Dim and type(y) is Dim:
            _same_scope(x, y, kind)
        if compare(x, op, y):
            found = x
        elif compare(y, op, x):
            found = y
        else:
            found = from_operation(scope, kind, (x, y))
        found = scope.tables.operations.setdefault(key, found)
    return found


OPERATIONS: dict[str, Callable[[Size, Size], Size]] = {
    "floordiv": floordiv,
    "mod": mod,
    "max": maximum,
    "min": minimum,
}


def _token(x: Size) -> Any:
    # Interned objects live as long as their scope, and so does the table: their ids stay theirs.
    return id(x) if type(x) is Dim else (x,)


# deciding -----------------------------------------------------------------------------------------


def compare(x: Size, op: str, y: Size) -> bool | None:
    """Whether ``x op y`` holds for all sizes (True), for none (False), or depends on them (None).

    ``op`` is one of ``>= > <= < == !=``. Always sound; complete if expressions and constraints are
    linear. Records no assumption.

    >>> from sagax._src.core import dims
    >>> a, b = dims.symbolic_shape("a, b", constraints=["a >= b + 1"])
    >>> dims.compare(a, ">", b), dims.compare(a, "<", b), dims.compare(b, ">=", 2)
    (True, False, None)
    """
    if type(x) is not Dim and type(y) is not Dim:
        return _COMPARE[op](x, y)
    if type(x) is Dim and type(y) is Dim:
        _same_scope(x, y, op)
    if op == ">=":
        return _sign(subtract(x, y))
    if op == "<":
        return _not(_sign(subtract(x, y)))
    if op == "<=":
        return _sign(subtract(y, x))
    if op == ">":
        return _not(_sign(subtract(y, x)))
    if op == "==":
        return equal(x, y)
    if op == "!=":
        return _not(equal(x, y))
    raise errors.ArgumentValueError(
        function="compare", argument="op", got=repr(op), expected="one of >= > <= < == !="
    )


_COMPARE: dict[str, Callable[[int, int], bool]] = {
    ">=": operator.ge,
    ">": operator.gt,
    "<=": operator.le,
    "<": operator.lt,
    "==": operator.eq,
    "!=": operator.ne,
}


def _sign(e: Size) -> bool | None:
    return e.scope.decide(e, ">=") if type(e) is Dim else e >= 0


def _not(answer: bool | None) -> bool | None:
    return None if answer is None else not answer


def equal(x: Size, y: Size) -> bool | None:
    """Whether ``x == y`` for all sizes (True), for none (False), or for some (None)."""
    if x is y:
        return True
    difference = subtract(x, y)
    if type(difference) is not Dim:
        return difference == 0
    return difference.scope.decide(difference, "==")


# looking in ---------------------------------------------------------------------------------------


def evaluate(x: Size, env: Mapping[str, int]) -> int:
    """The value of ``x`` when its variables have the values in ``env``.

    KeyError names a variable without a value.

    >>> from sagax._src.core import dims
    >>> (a,) = dims.symbolic_shape("a")
    >>> dims.evaluate(2 * a + 1, {"a": 3})
    7
    """
    return x.evaluate(env) if type(x) is Dim else x


def atoms(x: Size) -> Iterator[Atom]:
    """All atoms of ``x``, those inside operations included."""
    if type(x) is Dim:
        for monomial, _ in x.terms:
            for atom, _ in monomial.factors:
                yield atom
                if atom.kind != "var":
                    for operand in atom.operands:
                        yield from atoms(operand)


def variables(x: Size) -> frozenset[str]:
    """The names of the dimension variables in ``x``."""
    return frozenset(atom.name for atom in atoms(x) if atom.kind == "var")


def substitute(x: Size, env: Mapping[str, Size]) -> Size:
    """``x`` with variables replaced by sizes (ints, or Dims that may belong to another scope)."""
    if type(x) is not Dim:
        return x
    result: Size = x.const
    for monomial, coefficient in x.terms:
        term: Size = coefficient
        for atom, exponent in monomial.factors:
            term = multiply(term, power(_substitute_atom(x.scope, atom, env), exponent))
        result = add(result, term)
    return result


def _substitute_atom(scope: Scope, atom: Atom, env: Mapping[str, Size]) -> Size:
    if atom.kind == "var":
        value = env.get(atom.name)
        return from_atom(scope, atom) if value is None else value
    left, right = (substitute(operand, env) for operand in atom.operands)
    return OPERATIONS[atom.kind](left, right)


# order and text -----------------------------------------------------------------------------------


def _size_of(x: Size) -> int:
    if type(x) is not Dim:
        return 1
    return sum([abs(c) * m.size + 1 for m, c in x.terms]) + bool(x.const)


def _key_of(x: Size) -> tuple[Any, ...]:
    """A total order on sizes, by syntax: long expressions after short ones. For printing only."""
    if type(x) is not Dim:
        return (1, ((0,), x))
    key = x._key
    if key is None:
        terms = [(m.key, c) for m, c in x.terms]
        if x.const:
            terms.append(((0,), x.const))
        key = x._key = (_size_of(x), *terms)
    return key


def _format(x: Dim) -> str:
    parts: list[str] = []
    for monomial, coefficient in x.terms:
        magnitude = abs(coefficient)
        text = str(monomial) if magnitude == 1 else f"{magnitude}*{monomial}"
        _append(parts, coefficient < 0, text)
    if x.const:
        _append(parts, x.const < 0, str(abs(x.const)))
    return " ".join(parts)


def _append(parts: list[str], negative: bool, text: str) -> None:
    if negative:
        parts.append("-")
    elif parts:
        parts.append("+")
    parts.append(text)
