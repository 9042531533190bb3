"""Implement jacfwd, jacrev and hessian."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from sagax._src import trees
from sagax._src.api import arguments
from sagax._src.api.autodiff_common import (
    FlatFunction,
    check_inputs,
    fix_other_arguments,
    info_of,
    leaf_names,
    vjp_flat,
)
from sagax._src.argument_checks import checks
from sagax._src.argument_checks.functions import kind_of
from sagax._src.core import dims, dtype_predicates, dtypes
from sagax._src.core.value import aval_of, sockets
from sagax._src.diagnostics.boundary import function_name, tracing
from sagax._src.diagnostics.errors import ArgumentValueError, DtypeError, SagaxError
from sagax._src.diagnostics.function_wrappers import wraps
from sagax._src.higher_order.trace_bodies import as_value, with_numbers
from sagax._src.lazy_import import lazy_imports
from sagax._src.primitives.comparison import eq
from sagax._src.primitives.shaping import broadcasted_iota, size_as_value
from sagax._src.primitives.slicing import slice_in_dim
from sagax._src.primitives.structural import convert, instantiate, reshape
from sagax._src.source_stacks import transformation

if TYPE_CHECKING or lazy_imports():
    from sagax._src.api import eager_transforms
    from sagax._src.transforms import batch as batch_transform
    from sagax._src.transforms import jvp as jvp_transform


def _basis(leaves: Sequence[Any]) -> list:
    """Build for each leaf the standard basis of all leaves, one example a row."""
    total = sum(aval_of(x).size for x in leaves)
    if dims.is_dim(total):
        return _symbolic_basis(leaves, total)
    out, start = [], 0
    for x in leaves:
        aval = aval_of(x)
        n = int(aval.size)
        rows = np.zeros((total, n), aval.dtype)
        rows[np.arange(start, start + n), np.arange(n)] = 1
        whole = sockets.concrete(rows.reshape(total, *aval.shape))
        out.append(convert(whole, aval.dtype, aval.weak_type))
        start += n
    return out


def _symbolic_basis(leaves: Sequence[Any], total: Any) -> list:
    """Build the basis of leaves that have symbolic sizes."""
    out, start = [], 0
    for x in leaves:
        aval = aval_of(x)
        shape = (total, aval.size)
        row, column = [broadcasted_iota(np.dtype(np.int32), shape, d) for d in (0, 1)]
        here = convert(eq(row - size_as_value(start), column), aval.dtype)
        out.append(reshape(here, (total, *aval.shape)))
        start += aval.size
    return out


def _split_rows(x: Any, leaves: Sequence[Any], axis: int) -> list:
    """Split dimension `axis` of `x` into blocks for the leaves, each in the leaf's shape."""
    parts, start = [], 0
    shape = aval_of(x).shape
    for leaf in leaves:
        aval = aval_of(leaf)
        n = aval.size
        part = slice_in_dim(x, start, start + n, 1, axis)
        parts.append(reshape(part, (*shape[:axis], *aval.shape, *shape[axis + 1 :])))
        start += n
    return parts


def _no_arrays(name: str, fun: Any, args: tuple, positions: Sequence[int]) -> SagaxError:
    names = arguments.positional_names(fun, len(args))
    return ArgumentValueError(
        f"there is nothing to differentiate {function_name(fun)} with respect to",
        function=name,
        argument=", ".join([names[k] for k in positions]) or "argnums",
        expected="arrays in the differentiated argument",
        got=kind_of(args[positions[0]]) if positions else "no positions",
    )


def _zero_block(out: Any, leaf: Any, dtype: Any) -> Any:
    """Return the zero derivative of a block with integers on one side."""
    shape = (*aval_of(out).shape, *aval_of(leaf).shape)
    return sockets.concrete(np.zeros(shape, dtype))


def jacfwd(
    fun: Callable,
    argnums: int | Sequence[int] = 0,
    has_aux: bool = False,
    holomorphic: bool = False,
) -> Callable:
    """Return a function that computes the Jacobian of `fun` column by column, in forward mode.

    Efficient for few inputs and many outputs. For each array in the output, the result holds (in the
    structure of the argument) arrays of shape output.shape + input.shape.

    >>> sagax.jacfwd(lambda x: x * x)(snp.array([1.0, 2.0]))
    Array([[2., 0.],
           [0., 4.]], dtype=float32)
    """
    options = (argnums, has_aux, holomorphic)
    return eager_transforms.derivative(
        "jacfwd", fun, lambda f: _jacfwd("jacfwd", f, *options), options
    )


def _jacfwd(name: str, fun: Callable, argnums: Any, has_aux: bool, holomorphic: bool) -> Callable:
    single = checks.is_index(argnums)
    nums = checks.positions(name, "argnums", argnums)

    @wraps(fun)
    def jacobian(*args: Any, **kwargs: Any) -> Any:
        positions = arguments.pick_all(nums, len(args), name, fun)
        leaves, tree = arguments.flatten_arguments(name, fun, args, positions)
        check_inputs(name, fun, args, positions, leaves, holomorphic, forward=True)
        if not leaves:
            raise _no_arrays(name, fun, args, positions)
        values = [as_value(x) for x in leaves]
        flat = FlatFunction(fix_other_arguments(fun, args, kwargs, positions), tree, name, has_aux)
        info = info_of(fun, name, functools.partial(leaf_names, fun, args, positions))
        moving: list[bool] = []  # which outputs have tangents

        def push(*tangents: Any) -> list:
            outs, out_tangents = jvp_transform.jvp_flat(flat, values, tangents, info)
            out_tangents = out_tangents[: flat.out_tree.num_leaves]
            moving[:] = [t.aval.dtype != dtypes.float0 for t in map(as_value, out_tangents)]
            pushed = [instantiate(t) for t, m in zip(out_tangents, moving, strict=True) if m]
            return [*outs, *pushed]

        basis = _basis(values)
        axis = batch_transform.BatchAxis(aval_of(basis[0]).shape[0])
        with tracing(fun, name), transformation("vmap"):
            results, found_dims = batch_transform.batch_flat(push, axis, basis, [0] * len(basis))
        count = len(results) - sum(moving)
        outs, aux = flat.split(with_numbers(results[:count], values, leaves))
        if holomorphic:
            _check_outputs(name, fun, outs, flat.out_tree, holomorphic)
        rows = iter(
            [
                batch_transform.move_batch_dim(
                    as_value(r), d, aval_of(r).ndim - (d is not None), axis
                )
                for r, d in zip(results[count:], found_dims[count:], strict=True)
            ]
        )
        blocks = []
        for out, moves in zip(outs, moving, strict=True):
            if moves:
                row = next(rows)
                parts = _split_rows(row, values, aval_of(row).ndim - 1)
            else:
                parts = [_zero_block(out, x, aval_of(out).dtype) for x in values]
            block = tree.unflatten(parts)
            blocks.append(block[0] if single else block)
        result = flat.out_tree.unflatten(blocks)
        return (result, aux) if has_aux else result

    return jacobian


def _check_outputs(
    name: str, fun: Any, outs: Sequence[Any], out_tree: Any, holomorphic: bool
) -> None:
    """Raise, naming the output, unless all outputs have dtypes that a Jacobian supports."""
    for i, out in enumerate(outs):
        dtype = aval_of(out).dtype
        if (
            dtype_predicates.is_complex(dtype)
            if holomorphic
            else dtype_predicates.is_floating(dtype)
        ):
            continue
        path = trees.argument_path("result", trees.key_paths(out_tree.unflatten(outs))[i])
        raise DtypeError(
            f"{name} with holomorphic=True requires outputs with complex dtype"
            if holomorphic
            else f"{name} requires real-valued outputs (output dtype that is a sub-dtype of np.floating)",
            function=f"{name} of {function_name(fun)}",
            argument=path,
            got=out,
            expected="complex numbers" if holomorphic else "floating point numbers",
            fix="leave out holomorphic"
            if holomorphic
            else "for holomorphic functions pass holomorphic=True; for others use sagax.vjp directly",
        )


def jacrev(
    fun: Callable,
    argnums: int | Sequence[int] = 0,
    has_aux: bool = False,
    holomorphic: bool = False,
    allow_int: bool = False,
) -> Callable:
    """Return a function that computes the Jacobian of `fun` row by row, in reverse mode.

    Efficient for many inputs and few outputs. Same result as `jacfwd`.

    >>> sagax.jacrev(lambda x: x * x)(snp.array([1.0, 2.0]))
    Array([[2., 0.],
           [0., 4.]], dtype=float32)
    """
    options = (argnums, has_aux, holomorphic, allow_int)
    return eager_transforms.derivative(
        "jacrev", fun, lambda f: _jacrev("jacrev", f, *options), options
    )


def _jacrev(
    name: str,
    fun: Callable,
    argnums: Any,
    has_aux: bool,
    holomorphic: bool,
    allow_int: bool = False,
) -> Callable:
    single = checks.is_index(argnums)
    nums = checks.positions(name, "argnums", argnums)

    @wraps(fun)
    def jacobian(*args: Any, **kwargs: Any) -> Any:
        positions = arguments.pick_all(nums, len(args), name, fun)
        leaves, tree = arguments.flatten_arguments(name, fun, args, positions)
        check_inputs(name, fun, args, positions, leaves, holomorphic, allow_int)
        some = fix_other_arguments(fun, args, kwargs, positions)
        names = functools.partial(leaf_names, fun, args, positions)
        outs, pull, out_tree, aux = vjp_flat(some, leaves, tree, name, has_aux, names)
        if not leaves:
            raise _no_arrays(name, fun, args, positions)
        _check_outputs(name, fun, outs, out_tree, holomorphic)
        rows: list = []
        if outs:
            basis = _basis(outs)
            axis = batch_transform.BatchAxis(aval_of(basis[0]).shape[0])
            with tracing(fun, name), transformation("vmap"):
                found = batch_transform.batch_flat(
                    lambda *cts: pull.inexact(cts), axis, basis, [0] * len(basis)
                )
            rows = [
                batch_transform.move_batch_dim(r, d, 0, axis) for r, d in zip(*found, strict=True)
            ]
        # rows: for each input leaf, all outputs' elements along the first dimension
        given = iter(rows)
        by_input = [
            _split_rows(next(given), outs, 0)
            if moves
            else [_zero_block(out, x, aval_of(x).dtype) for out in outs]
            for moves, x in zip(pull.marks, leaves, strict=True)
            if outs
        ]
        blocks = []
        for k in range(len(outs)):
            parts = tree.unflatten([pieces[k] for pieces in by_input])
            blocks.append(parts[0] if single else parts)
        result = out_tree.unflatten(blocks)
        return (result, aux) if has_aux else result

    return jacobian


def hessian(
    fun: Callable,
    argnums: int | Sequence[int] = 0,
    has_aux: bool = False,
    holomorphic: bool = False,
) -> Callable:
    """Return a function that computes the Hessian of `fun`: forward over reverse mode.

    >>> sagax.hessian(lambda x: (x ** 3).sum())(snp.array([1.0, 2.0]))
    Array([[ 6.,  0.],
           [ 0., 12.]], dtype=float32)
    """
    options = (argnums, has_aux, holomorphic)

    def make(fun: Any) -> Callable:
        return _jacfwd("hessian", _jacrev("hessian", fun, *options), *options)

    return eager_transforms.derivative("hessian", fun, make, options)
