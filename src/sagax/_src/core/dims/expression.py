"""Define `Dim`: integer polynomials over variables, ``floordiv``, ``mod``, ``max`` and ``min``.

A `Dim` has a normal form and is interned in its scope. The same expression is the same object, so that
identity is a sound equality test and shapes are cheap keys. A result without variables is an ``int``,
never a Dim. Constraints and decisions belong to the scope.
"""

# pyright: reportPrivateUsage=false
# (These functions build Dim.)

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
from sagax._src.languages.choice import worded


class Scope(Protocol):
    """Declare the interface of a scope for expressions."""

    name: str
    tables: Tables
    rules: list[Rule]
    divisors: list[tuple[Monomial, int]]
    noted: Assumptions

    def decide(self, e: Dim, op: str) -> bool | None:
        """Return whether ``e op 0`` holds for all sizes, for none, or for some (None)."""
        ...

    def bounds(self, e: Size) -> tuple[int | None, int | None]:
        """Return the least and the greatest value of ``e``; None = unbounded."""
        ...

    def read(self, text: str) -> Size:
        """Parse the size that prints as ``text``."""
        ...

    def inconclusive(self, lhs: Size, op: str, rhs: Size) -> Exception:
        """Return the error for an inconclusive comparison."""
        ...


# The conversion of a size to an array value, for `dim * array`, `dim / 2`, `dim < 1.5`, which core
# installs. Without it, these operations are unsupported.
_dim_as_value: Callable[[Dim], Any] | None = None


def set_dim_as_value(convert: Callable[[Dim], Any] | None) -> None:
    """Install the conversion of a Dim to an array value (a tracer)."""
    global _dim_as_value
    _dim_as_value = convert


def _constant(x: Any) -> int | None:
    """Convert an int, a NumPy integer or a 0-d integer array to an int; return None for others."""
    if isinstance(x, int):
        return int(x)
    if isinstance(x, np.integer):
        return int(cast(int, x))
    if isinstance(x, np.ndarray):
        return zero_dimensional_integer(cast(Any, x))
    return None


def zero_dimensional_integer(x: Any) -> int | None:
    """Return the int in a 0-d array of integers, None for other arrays."""
    return int(x) if x.ndim == 0 and x.dtype.kind in "iu" else None


def _dispatch(
    sizes: Callable[[Size, Size], Any], values: Callable[[Any, Any], Any], x: Any, y: Any
) -> Any:
    """Apply an operation of a Dim to sizes if the other operand is an integer, else to values."""
    a = x if type(x) is Dim else _constant(x)
    b = y if type(y) is Dim else _constant(y)
    if a is None or b is None:
        return _apply_to_values(values, x, y)
    return sizes(a, b)


def _apply_to_values(values: Callable[[Any, Any], Any], x: Any, y: Any) -> Any:
    """Apply an operation to array values, or return NotImplemented for other operands."""
    if _dim_as_value is None:
        return NotImplemented
    for operand in (x, y):
        # Only floats, arrays and tracers; others may implement the reflected operation.
        if not (isinstance(operand, int | float | complex | Dim) or hasattr(operand, "dtype")):
            return NotImplemented
    x = _dim_as_value(x) if type(x) is Dim else x
    y = _dim_as_value(y) if type(y) is Dim else y
    return values(x, y)


@final
class Dim:
    """Represent a symbolic size: an integer expression over variables, valid wherever an int size is.

    `symbolic_shape` and arithmetic on its results create them. ``+ - * // % divmod **`` and
    comparisons take ints, NumPy integers and Dims of the same scope; a result without variables is an
    int. Order comparisons that depend on the sizes raise `InconclusiveDimensionOperation`. ``==`` then
    returns False and records the assumption (see `assumptions`).

    >>> from sagax._src.core import dims
    >>> a, b = dims.symbolic_shape("a, b")
    >>> 2 * b + 1, (a * b + a) // (b + 1), (6 * a + 4) % 3, a // 2
    (2*b + 1, a, 1, floordiv(a, 2))
    """

    __slots__ = ("__weakref__", "_hash", "_key", "_text", "const", "scope", "terms")

    # NumPy must not treat `np_scalar + dim` as an operation on object arrays.
    __array_ufunc__ = None

    terms: tuple[tuple[Monomial, int], ...]  # without the constant, in printing order
    const: int
    scope: Scope
    _hash: int
    _text: str | None
    _key: Key | None

    def __init__(self) -> None:
        raise worded(
            TypeError("Dim has no public constructor; symbolic_shape('b, 2*n') makes Dims")
        )

    # Interned in the scope: a copy is the same object.

    def __copy__(self) -> Dim:
        return self

    def __deepcopy__(self, memo: Any) -> Dim:
        return self

    def __reduce__(self) -> Any:
        return _unpickle, (self.scope, str(self))

    def __hash__(self) -> int:
        return self._hash

    def __str__(self) -> str:
        text = self._text
        if text is None:
            text = self._text = _format(self)
        return text

    __repr__ = __str__

    def __add__(self, other: Any) -> Any:
        return _dispatch(add, operator.add, self, other)

    def __radd__(self, other: Any) -> Any:
        return _dispatch(add, operator.add, other, self)

    def __sub__(self, other: Any) -> Any:
        return _dispatch(subtract, operator.sub, self, other)

    def __rsub__(self, other: Any) -> Any:
        return _dispatch(subtract, operator.sub, other, self)

    def __mul__(self, other: Any) -> Any:
        return _dispatch(multiply, operator.mul, self, other)

    def __rmul__(self, other: Any) -> Any:
        return _dispatch(multiply, operator.mul, other, self)

    def __floordiv__(self, other: Any) -> Any:
        return _dispatch(floordiv, lambda x, y: x // y, self, other)

    def __rfloordiv__(self, other: Any) -> Any:
        return _dispatch(floordiv, lambda x, y: x // y, other, self)

    def __mod__(self, other: Any) -> Any:
        return _dispatch(mod, operator.mod, self, other)

    def __rmod__(self, other: Any) -> Any:
        return _dispatch(mod, operator.mod, other, self)

    def __divmod__(self, other: Any) -> Any:
        return _dispatch(quotient_and_remainder, divmod, self, other)

    def __rdivmod__(self, other: Any) -> Any:
        return _dispatch(quotient_and_remainder, divmod, other, self)

    # True quotients are array values, as are powers with a symbolic exponent.

    def __truediv__(self, other: Any) -> Any:
        return _apply_to_values(lambda x, y: x / y, self, other)

    def __rtruediv__(self, other: Any) -> Any:
        return _apply_to_values(lambda x, y: x / y, other, self)

    def __pow__(self, exponent: Any) -> Any:
        constant = None if type(exponent) is Dim else _constant(exponent)
        if constant is None:
            return _apply_to_values(lambda x, y: x**y, self, exponent)
        return power(self, constant)

    def __rpow__(self, base: Any) -> Any:
        return _apply_to_values(lambda x, y: x**y, base, self)

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
                # Other arrays have their own method; all other objects are unequal to a size.
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
        return _compare_order(self, "<", other)

    def __le__(self, other: Any) -> Any:
        return _compare_order(self, "<=", other)

    def __gt__(self, other: Any) -> Any:
        return _compare_order(self, ">", other)

    def __ge__(self, other: Any) -> Any:
        return _compare_order(self, ">=", other)

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
        """Convert the size to an array value."""
        if _dim_as_value is None:
            raise worded(TypeError(f"the size {self} cannot become an array here"))
        return _dim_as_value(self)

    def evaluate(self, env: Mapping[str, int]) -> int:
        """Return the value of the expression for the values of its variables in ``env``."""
        return self.const + sum(c * monomial.evaluate(env) for monomial, c in self.terms)


Size: TypeAlias = int | Dim


def _unpickle(scope: Scope, text: str) -> Size:
    return scope.read(text)  # for pickles


def _compare_order(lhs: Dim, op: str, other: Any) -> Any:
    rhs = other if type(other) is Dim else _constant(other)
    if rhs is None:
        return _apply_to_values(_ORDER_OPERATORS[op], lhs, other)
    answer = compare(lhs, op, rhs)
    if answer is None:
        raise lhs.scope.inconclusive(lhs, op, rhs)
    return answer


_ORDER_OPERATORS: dict[str, Callable[[Any, Any], Any]] = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}


# --- construction ---------------------------------------------------------------------------------


def variable(scope: Scope, name: str) -> Size:
    """Return the variable ``name`` of ``scope`` as a size."""
    return from_atom(scope, _atom(scope, "var", (name,)))


def _atom(scope: Scope, kind: str, operands: tuple[Any, ...]) -> Atom:
    # Operands of operations are sizes: ints, or Dims, which must not be compared by `==` here.
    key = (kind, *(id(x) if type(x) is Dim else (x,) for x in operands))
    atom = scope.tables.atoms.get(key)
    if atom is None:
        if kind == "var":
            candidate = Atom(kind, operands, 1, (1, operands[0]))
        else:
            size = 1 + sum([_print_size(x) for x in operands])
            candidate = Atom(
                kind, operands, size, (size, kind, tuple([_print_key(x) for x in operands]))
            )
        atom = scope.tables.atoms.setdefault(key, candidate)
    return atom


def from_atom(scope: Scope, atom: Atom) -> Size:
    """Return an atom as a size."""
    return build(scope, {_monomial(scope, ((atom, 1),)): 1}, 0)


def from_operation(scope: Scope, kind: str, operands: tuple[Size, Size]) -> Size:
    """Return an operation as a size, without simplification."""
    return from_atom(scope, _atom(scope, kind, operands))


def from_monomial(scope: Scope, monomial: Monomial, without: Atom | None = None) -> Size:
    """Return a monomial as a size, divided by one factor ``without`` if given."""
    if without is None:
        return build(scope, {monomial: 1}, 0)
    exponents = dict(monomial.factors)
    exponents[without] -= 1
    if not exponents[without]:
        del exponents[without]
    return build(scope, {_sorted_monomial(scope, exponents): 1}, 0) if exponents else 1


def variable_monomial(scope: Scope, name: str) -> Monomial:
    """Return the monomial of the variable ``name``, regardless of equality constraints."""
    return _monomial(scope, ((_atom(scope, "var", (name,)), 1),))


# Limits far beyond actual sizes, so that untrusted specifications take no time.
_MAX_DEGREE = 64
_MAX_PRODUCTS = 10_000


def _monomial(scope: Scope, factors: tuple[tuple[Atom, int], ...]) -> Monomial:
    monomial = scope.tables.monomials.get(factors)
    if monomial is None:
        if sum([exponent for _, exponent in factors]) > _MAX_DEGREE:
            raise errors.ArgumentValueError(
                f"a symbolic dimension is a product of more than {_MAX_DEGREE} factors"
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
    """Build the size ``const + sum(coefficient * monomial)``, in normal form."""
    if scope.rules:
        return _build_with_rules(scope, terms, const)
    return _intern(scope, terms, const)


def _intern(scope: Scope, terms: dict[Monomial, int], const: int) -> Size:
    pairs = [item for item in terms.items() if item[1]]
    if not pairs:
        return const
    if len(pairs) > 1:
        pairs.sort(key=lambda item: item[0].key, reverse=True)
    return _intern_dim(scope, tuple(pairs), const)


_serial = itertools.count(1)


def _next_hash() -> int:
    """Return a hash that no other Dim has, so that no dictionary look-up calls `==`, a decision.

    Hashes of the terms could collide: Python's -1 and -2 have the same hash. Multiples of a large odd
    number are distinct, far from the hashes of ints, and the same in every run.
    """
    return next(_serial) * 0x9E3779B97F4A7C15 % (1 << 61)


def _intern_dim(scope: Scope, terms: tuple[tuple[Monomial, int], ...], const: int) -> Dim:
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
    """Apply the rewrite rules of the scope's equality constraints to a fixed point."""
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
    raise worded(TypeError(f"no symbolic size among {x}, {y}"))


def _first_name(x: Dim) -> str:
    return min(variables(x))


# --- arithmetic -----------------------------------------------------------------------------------


def add(x: Size, y: Size) -> Size:
    if type(x) is not Dim:
        if type(y) is not Dim:
            return x + y
        x, y = y, x
    if type(y) is not Dim:
        if not y:
            return x
        return _intern_dim(x.scope, x.terms, x.const + y)
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
    if len(x.terms) * len(y.terms) > _MAX_PRODUCTS:
        raise errors.ArgumentValueError(
            f"a symbolic dimension has more than {_MAX_PRODUCTS} products of terms"
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
    """Raise ``x`` to a constant power."""
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
    """Divide polynomials: return ``q, r`` with ``x == q*y + r`` and no multiple of ``y`` in ``r``."""
    if type(y) is not Dim:
        if type(x) is not Dim:
            return divmod(x, y)
        # By a constant: only if the remainder is constant too, else it would be ambiguous.
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
            break  # a rewrite rule may have enlarged the product
        quotient = add(quotient, step)
        rest = smaller
    return quotient, rest


def _divide_monomials(
    scope: Scope, x: Monomial, y: Monomial
) -> tuple[dict[Monomial, int], int] | None:
    """Return ``x / y`` as (terms, constant), or None if ``y`` does not divide ``x``."""
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
    """Return ``x // y``, simplified if the remainder is known."""
    return quotient_and_remainder(x, y)[0]


def mod(x: Size, y: Size) -> Size:
    """Return ``x % y``, simplified if the remainder is known."""
    return quotient_and_remainder(x, y)[1]


def quotient_and_remainder(x: Size, y: Size) -> tuple[Size, Size]:
    """Return ``divmod(x, y)``."""
    if type(x) is not Dim and type(y) is not Dim:
        return divmod(x, y)
    if type(y) is not Dim and y == 0:
        raise worded(ZeroDivisionError(f"division of the symbolic dimension '{x}' by zero"))
    if type(x) is Dim and type(y) is Dim:
        _same_scope(x, y, "//")
    scope = _scope_of(x, y)
    key = ("divmod", _memo_key(x), _memo_key(y))
    found = scope.tables.operations.get(key)
    if found is None:
        quotient, rest = divide(x, y)
        if type(rest) is Dim and type(y) is not Dim and scope.divisors:
            whole, rest = _divide_by_constraints(rest, y)
            quotient = add(quotient, whole)
        if not (type(rest) is not Dim and rest == 0) and not _is_remainder(rest, y):
            operands = (x, y)
            quotient = from_operation(scope, "floordiv", operands)
            rest = from_operation(scope, "mod", operands)
        found = scope.tables.operations.setdefault(key, (quotient, rest))
    return found


def _divide_by_constraints(x: Dim, y: int) -> tuple[Size, Size]:
    """Return ``q, r`` with ``x == q*y + r``, using constraints that products are multiples.

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
    scope: Scope, monomial: Monomial, have: int, target: int
) -> tuple[Monomial, int, Monomial | None] | None:
    """Find a factor of ``monomial`` that is a multiple of an int, which adds divisors to ``have``.

    Return the factor, the int, and the monomial without the factor (None if it is 1).
    """
    for product, divisor in scope.divisors:
        if product.divides(monomial) and math.gcd(have * divisor, target) > have:
            exponents = dict(monomial.factors)
            for atom, exponent in product.factors:
                exponents[atom] -= exponent
            exponents = {atom: exponent for atom, exponent in exponents.items() if exponent}
            return product, divisor, _sorted_monomial(scope, exponents) if exponents else None
    return None


def _is_remainder(rest: Size, divisor: Size) -> bool:
    """Return whether ``rest`` provably lies between zero and the divisor, as Python's ``%`` does."""
    if compare(rest, ">=", 0) and compare(rest, "<", divisor):
        return True
    return bool(compare(rest, "<=", 0) and compare(rest, ">", divisor))


def maximum(x: Size, y: Size) -> Size:
    """Return the larger of two sizes."""
    return _extremum("max", ">=", x, y)


def minimum(x: Size, y: Size) -> Size:
    """Return the smaller of two sizes."""
    return _extremum("min", "<=", x, y)


def _extremum(kind: str, op: str, x: Size, y: Size) -> Size:
    if type(x) is not Dim and type(y) is not Dim:
        return FUNCTIONS[kind](x, y)
    scope = _scope_of(x, y)
    key = (kind, _memo_key(x), _memo_key(y))
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


def _memo_key(x: Size) -> Any:
    # Interned objects and the table live as long as their scope, so that ids are never reused.
    return id(x) if type(x) is Dim else (x,)


# --- comparison -----------------------------------------------------------------------------------


def compare(x: Size, op: str, y: Size) -> bool | None:
    """Return whether ``x op y`` holds for all sizes (True), for none (False), or for some (None).

    ``op`` is one of ``>= > <= < == !=``. Always sound; complete if expressions and constraints are
    linear. Records no assumption.

    >>> from sagax._src.core import dims
    >>> a, b = dims.symbolic_shape("a, b", constraints=["a >= b + 1"])
    >>> dims.compare(a, ">", b), dims.compare(a, "<", b), dims.compare(b, ">=", 2)
    (True, False, None)
    """
    if type(x) is not Dim and type(y) is not Dim:
        return _COMPARISONS[op](x, y)
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


_COMPARISONS: dict[str, Callable[[int, int], bool]] = {
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
    """Return whether ``x == y`` for all sizes (True), for none (False), or for some (None)."""
    if x is y:
        return True
    difference = subtract(x, y)
    if type(difference) is not Dim:
        return difference == 0
    return difference.scope.decide(difference, "==")


# --- evaluation -----------------------------------------------------------------------------------


def evaluate(x: Size, env: Mapping[str, int]) -> int:
    """Return the value of ``x`` for the values of its variables in ``env``.

    Raises KeyError for a variable without a value.

    >>> from sagax._src.core import dims
    >>> (a,) = dims.symbolic_shape("a")
    >>> dims.evaluate(2 * a + 1, {"a": 3})
    7
    """
    return x.evaluate(env) if type(x) is Dim else x


def atoms(x: Size) -> Iterator[Atom]:
    """Yield all atoms of ``x``, including those inside operations."""
    if type(x) is Dim:
        for monomial, _ in x.terms:
            for atom, _ in monomial.factors:
                yield atom
                if atom.kind != "var":
                    for operand in atom.operands:
                        yield from atoms(operand)


def variables(x: Size) -> frozenset[str]:
    """Return the names of the dimension variables in ``x``."""
    return frozenset(atom.name for atom in atoms(x) if atom.kind == "var")


def substitute(x: Size, env: Mapping[str, Size]) -> Size:
    """Substitute sizes (ints, or Dims of any scope) for variables of ``x``."""
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


# --- printing -------------------------------------------------------------------------------------


def _print_size(x: Size) -> int:
    if type(x) is not Dim:
        return 1
    return sum([abs(c) * m.size + 1 for m, c in x.terms]) + bool(x.const)


def _print_key(x: Size) -> tuple[Any, ...]:
    """Return a sort key of sizes, by syntax: long expressions after short ones. For printing only."""
    if type(x) is not Dim:
        return (1, ((0,), x))
    key = x._key
    if key is None:
        terms = [(m.key, c) for m, c in x.terms]
        if x.const:
            terms.append(((0,), x.const))
        key = x._key = (_print_size(x), *terms)
    return key


def _format(x: Dim) -> str:
    parts: list[str] = []
    for monomial, coefficient in x.terms:
        magnitude = abs(coefficient)
        text = str(monomial) if magnitude == 1 else f"{magnitude}*{monomial}"
        _append_term(parts, coefficient < 0, text)
    if x.const:
        _append_term(parts, x.const < 0, str(abs(x.const)))
    return " ".join(parts)


def _append_term(parts: list[str], negative: bool, text: str) -> None:
    if negative:
        parts.append("-")
    elif parts:
        parts.append("+")
    parts.append(text)
