"""Evaluate einsum expressions."""

from __future__ import annotations

import functools
import importlib
from collections.abc import Hashable, Sequence
from typing import Any

import numpy as np

from sagax._src.core import dims, dtypes
from sagax._src.core.value import Array, aval_of
from sagax._src.diagnostics.errors import ArgumentError, ArgumentValueError
from sagax._src.primitives import structural
from sagax._src.primitives.dot_general import canonical_precision
from sagax._src.primitives.dot_general import dot_general as lax_dot_general
from sagax._src.primitives.reductions import reduce_or_p, reduce_sum_p
from sagax._src.primitives.resharding import with_out_sharding
from sagax.numpy._arguments import refuse_out, with_aval
from sagax.numpy._contraction import contract, diagonal_of
from sagax.numpy._shaping import moveaxis

Labels = tuple[Hashable, ...]


def einsum(
    subscripts: Any,
    /,
    *operands: Any,
    out: None = None,
    optimize: Any = "auto",
    precision: Any = None,
    preferred_element_type: Any = None,
    _dot_general: Any = lax_dot_general,
    out_sharding: Any = None,
) -> Array:
    """Multiply the operands, and sum over the indices that the result does not have.

    Args:
      subscripts: indices of each operand, separated by commas, and of the result, as in
        "ij,jk->ik"; "..." stands for any further dimensions, which broadcast. Without "->" the result
        has the indices that occur once, in alphabetical order. An index twice in one operand takes
        its diagonal. Or in place of the text: operand, list of ints, operand, list of ints, ..., and
        perhaps the list for the result.
      optimize: in what order more than two operands are combined: 'optimal', 'greedy', 'auto', False
        (from left to right), a path as `einsum_path` gives, or another strategy of opt_einsum.
      precision: of matrix products; see `lax.dot_general`.
      preferred_element_type: the dtype to add in, and of the result.

    >>> snp.einsum("ij,j->i", snp.array([[1, 2], [3, 4]]), snp.array([1, 1]))
    Array([3, 7], dtype=int32)
    """
    if out is not None:
        refuse_out("einsum", out)
    if out_sharding is not None:
        options = {"precision": precision, "preferred_element_type": preferred_element_type}
        within = functools.partial(einsum, optimize=optimize, _dot_general=_dot_general, **options)
        return with_out_sharding("einsum", within, (subscripts, *operands), out_sharding)
    inputs, given, result = _read(subscripts, operands)
    arrays = [with_aval("einsum", x, i)[0] for i, x in enumerate(given)]
    shapes = tuple([aval_of(x).shape for x in arrays])
    plan = _plan(inputs, result, shapes)
    precision = canonical_precision(precision, "einsum")
    if preferred_element_type is not None:
        preferred_element_type = dtypes.requested_dtype(preferred_element_type, "einsum")
    dot = None if _dot_general is lax_dot_general else _dot_general
    terms = [_simplified(x, names, plan.sizes) for x, names in zip(arrays, plan.inputs)]
    for positions in _path(plan, optimize):
        chosen = [terms[i] for i in positions]
        terms = [t for i, t in enumerate(terms) if i not in positions]
        needed = set(plan.result).union(*[names for _, names in terms])
        last = not terms
        combined = _summed(*chosen[0], needed | _labels(chosen[1:]))
        for k, (x, names) in enumerate(chosen[1:], 2):
            left = needed | _labels(chosen[k:])
            x, names = _summed(x, names, left | set(combined[1]))
            combined = _summed(*combined, left | set(names))
            target = plan.result if last and k == len(chosen) else None
            combined = _product(
                combined, (x, names), left, target, precision, preferred_element_type, dot
            )
        terms.append(combined)
    ((x, names),) = terms
    x, names = _summed(x, names, set(plan.result))
    found = structural.transpose(x, [names.index(n) for n in plan.result])
    if preferred_element_type is not None:
        return structural.convert(found, preferred_element_type)
    if not hasattr(found, "aval"):
        found = structural.broadcast_in_dim(found, aval_of(found).shape, range(len(plan.result)))
    return found


def _labels(terms: Sequence[tuple]) -> set:
    return {name for _, names in terms for name in names}


def _simplified(x: Any, names: Labels, sizes: dict) -> tuple[Any, Labels]:
    """Reduce an operand to one dimension for each label, without size 1 where others stretch."""
    shape = aval_of(x).shape
    stretched = [
        i for i, (n, d) in enumerate(zip(names, shape)) if dims.same(d, 1) and not _is_one(sizes[n])
    ]
    if stretched:
        x = structural.squeeze(x, stretched)
        names = tuple([n for i, n in enumerate(names) if i not in stretched])
    for name in sorted(set(names), key=names.index):
        while names.count(name) > 1:
            i = names.index(name)
            j = names.index(name, i + 1)
            x = diagonal_of(moveaxis(x, (i, j), (-2, -1)), 0)
            names = (*[n for k, n in enumerate(names) if k not in (i, j)], name)
    return x, names


def _is_one(size: Any) -> bool:
    return dims.same(size, 1)


def _summed(x: Any, names: Labels, labels: set) -> tuple[Any, Labels]:
    """Sum `x` over the labels that are not in `labels`."""
    axes = tuple([i for i, n in enumerate(names) if n not in labels])
    if not axes:
        return x, names
    primitive = reduce_or_p if aval_of(x).dtype == np.bool_ else reduce_sum_p
    return primitive.bind(x, axes=axes), tuple([n for n in names if n in labels])


def _product(
    first: tuple[Any, Labels],
    second: tuple[Any, Labels],
    needed: set,
    result: Labels | None,
    precision: Any,
    preferred: Any,
    dot_general: Any,
) -> tuple[Any, Labels]:
    """Combine two terms; labels that are not `needed` are summed over."""
    (x, x_names), (y, y_names) = first, second
    if result is None:
        shared = [n for n in x_names if n in y_names]
        alone = [n for n in (*x_names, *y_names) if n not in shared]
        result = tuple([n for n in shared if n in needed] + alone)
    found = contract("einsum", x, x_names, y, y_names, result, precision, preferred, dot_general)
    return found, result


# reading ------------------------------------------------------------------------------------------


class _Plan:
    """The labels of each operand and of the result, and the size that each label stands for."""

    __slots__ = ("inputs", "path_cache", "result", "shapes", "sizes")

    def __init__(self, inputs: tuple, result: Labels, shapes: tuple, sizes: dict) -> None:
        self.inputs = inputs
        self.result = result
        self.shapes = shapes
        self.sizes = sizes
        self.path_cache: dict = {}


def _read(subscripts: Any, operands: tuple) -> tuple[tuple, tuple, Any]:
    """Parse labels of the operands, operands, and labels of the result (None: implicit).

    `...` remain.
    """
    if not isinstance(subscripts, str):
        return _read_lists((subscripts, *operands))
    inputs, arrow, result = subscripts.replace(" ", "").partition("->")
    terms = tuple(map(_letters, inputs.split(",")))
    if len(terms) != len(operands):
        raise ArgumentValueError(
            "there must be as many subscripts as operands",
            function="einsum",
            argument="subscripts",
            got=f"{len(terms)} subscripts in {subscripts!r} and {len(operands)} operands",
        )
    return terms, operands, _letters(result) if arrow else None


@functools.lru_cache(maxsize=1024)
def _letters(term: str) -> Labels:
    """Parse the labels of one operand: characters, and Ellipsis for three dots."""
    head, dots, tail = term.partition("...")
    for c in head + tail:
        if c in ".->":
            raise ArgumentValueError.about(
                "einsum", "subscripts", repr(term), "letters, with '...' at most once"
            )
    return (*head, ..., *tail) if dots else tuple(head)


def _read_lists(arguments: tuple) -> tuple[tuple, tuple, Any]:
    pairs, rest = arguments[: len(arguments) // 2 * 2], arguments[len(arguments) // 2 * 2 :]
    try:
        terms = tuple([tuple(names) for names in pairs[1::2]])
        result = tuple(rest[0]) if rest else None
        hash((terms, result))
    except TypeError:
        raise ArgumentError(
            function="einsum",
            argument="subscripts",
            got=arguments[0],
            expected="a text such as 'ij,jk->ik', or operands and lists of ints in turn",
        ) from None
    return terms, pairs[::2], result


@functools.lru_cache(maxsize=1024)
def _plan(inputs: tuple, result: Labels | None, shapes: tuple) -> _Plan:
    """Expand `...` into labels, checked against the shapes."""
    extra = 0
    full = []
    for i, (names, shape) in enumerate(zip(inputs, shapes)):
        dots = len(shape) - len(names) + 1 if ... in names else 0
        if dots < 0 or (... not in names and len(names) != len(shape)):
            raise ArgumentValueError(
                f"operand {i} has {len(shape)} dimensions, but its subscripts {_shown(names)} name"
                f" {len(names) - (... in names)}",
                function="einsum",
                got=f"shape {shape}",
            )
        full.append(_expanded(names, dots))
        extra = max(extra, dots)
    everything = [n for names in full for n in names]
    if result is None:
        once = sorted([n for n in set(everything) if type(n) is not _Dots and _once(n, everything)])
        target = (*_expanded((...,), extra), *once)
    else:
        target = _expanded(result, extra if ... in result else 0)
        if len(set(target)) != len(target):
            raise ArgumentValueError(
                f"a label occurs twice in the result {_shown(result)}",
                function="einsum",
                argument="subscripts",
            )
        for n in target:
            if n not in everything:
                raise ArgumentValueError(
                    f"the result has the label {n!r}, which no operand has",
                    function="einsum",
                    argument="subscripts",
                )
    return _Plan(tuple(full), target, shapes, _sizes(full, shapes))


class _Dots(int):
    """A label for a dimension that `...` stands for, counted from the last of them."""

    __slots__ = ()

    def __hash__(self) -> int:
        return hash((_Dots, int(self)))

    def __eq__(self, other: object) -> bool:
        return type(other) is _Dots and int(self) == int(other)

    def __repr__(self) -> str:
        return "..."


def _expanded(names: Labels, dots: int) -> Labels:
    if ... not in names:
        return names
    i = names.index(...)
    return (*names[:i], *map(_Dots, range(dots - 1, -1, -1)), *names[i + 1 :])


def _once(name: Hashable, everything: list) -> bool:
    return everything.count(name) == 1


def _shown(names: Labels) -> str:
    return repr("".join(["..." if n is ... else str(n) for n in names]))


def _sizes(inputs: Sequence[Labels], shapes: tuple) -> dict:
    """Return the size of each label; where operands differ, one of them must be 1."""
    sizes: dict = {}
    owner: dict = {}
    for i, (names, shape) in enumerate(zip(inputs, shapes)):
        own: dict = {}
        for n, d in zip(names, shape):
            if not dims.same(own.setdefault(n, d), d):
                raise ArgumentValueError(
                    f"dimensions in operand {i} for collapsing index {n!r} don't match ({own[n]} != {d})",
                    function="einsum",
                    got=f"shape {shape}",
                    expected="one size for each label: a diagonal does not broadcast",
                )
            old_size = sizes.get(n, d)
            if dims.same(old_size, d) or dims.same(d, 1):
                sizes[n] = old_size
            elif dims.same(old_size, 1):
                sizes[n] = d
                owner[n] = i
            else:
                raise ArgumentValueError(
                    f"the label {n!r} has size {old_size} in operand {owner[n]} and size {d} in operand"
                    f" {i}",
                    function="einsum",
                    got=f"shapes {', '.join(map(str, shapes))}",
                    expected="one size for each label",
                )
            owner.setdefault(n, i)
    return sizes


# order of contraction -----------------------------------------------------------------------------


def _path(plan: _Plan, optimize: Any) -> list[tuple[int, ...]]:
    """Build the contraction path: each step removes its terms and appends its result."""
    n = len(plan.inputs)
    if n <= 2 or optimize is False:
        return [tuple(range(n))]
    if isinstance(optimize, (list, tuple)) and optimize and isinstance(optimize[0], (list, tuple)):
        return [tuple(step) for step in optimize]
    if isinstance(optimize, (list, tuple)) and optimize and optimize[0] == "einsum_path":
        return [tuple(step) for step in optimize[1:]]
    try:
        found = plan.path_cache.get(optimize)
    except TypeError:
        return _search_path(plan, optimize)
    if found is None:
        found = plan.path_cache[optimize] = _search_path(plan, optimize)
    return found


def _search_path(plan: _Plan, optimize: Any) -> list[tuple[int, ...]]:
    path, _ = _contract_path(plan, optimize)
    return [tuple(step) for step in path]


def _contract_path(plan: _Plan, optimize: Any) -> Any:
    # imported here since it is slow to import, and rarely needed
    opt_einsum = importlib.import_module("opt_einsum")
    letters: dict = {}
    for names in plan.inputs:
        for n in names:
            letters.setdefault(n, opt_einsum.get_symbol(len(letters)))
    terms = ",".join(["".join([letters[n] for n in names]) for names in plan.inputs])
    equation = f"{terms}->{''.join([letters[n] for n in plan.result])}"
    # symbolic sizes count as middling: only the order of the work depends on it
    sizes = {n: 64 if dims.is_dim(d) else d for n, d in plan.sizes.items()}
    shapes = [
        tuple([1 if dims.same(d, 1) else sizes[n] for n, d in zip(names, shape)])
        for names, shape in zip(plan.inputs, plan.shapes)
    ]
    strategy = "auto" if optimize is True else optimize
    return opt_einsum.contract_path(equation, *shapes, shapes=True, optimize=strategy)


def einsum_path(subscripts: Any, /, *operands: Any, optimize: Any = "auto") -> tuple[list, Any]:
    """Find the order in which `einsum` contracts the operands: a list of steps, and their cost.

    A step is a tuple of positions in the list of operands; these are removed, and their product is
    appended. The list can be given to `einsum` as `optimize`.

    >>> x = snp.ones((2, 2))
    >>> snp.einsum_path("ij,jk,kl->il", x, x, x)[0]
    [(0, 1), (0, 1)]
    """
    inputs, given, result = _read(subscripts, operands)
    shapes = tuple([with_aval("einsum_path", x, i)[1].shape for i, x in enumerate(given)])
    if isinstance(optimize, bool):
        optimize = "optimal" if optimize else [tuple(range(len(given)))]
    path, info = _contract_path(_plan(inputs, result, shapes), optimize)
    return path, info
