"""Apply functions of dense arrays to sparse ones, and differentiate by stored elements."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

import sagax.lax as lax
import sagax.numpy as snp
from sagax._src import trees
from sagax._src.api import arguments, derivatives, jacobians
from sagax._src.core.avals import ShapedArray
from sagax._src.core.families import IDENTITY
from sagax._src.core.jaxpr import Literal
from sagax._src.core.primitive import Primitive
from sagax._src.core.staging import stage
from sagax._src.core.value import aval_of
from sagax._src.diagnostics.function_wrappers import wraps
from sagax._src.higher_order.cond import cond_p
from sagax._src.higher_order.scan import scan_p
from sagax._src.higher_order.while_loop import while_p
from sagax._src.primitives.arithmetic import add_p, div_p, mul_p, sub_p
from sagax._src.primitives.convolution import conv_general_dilated_p
from sagax._src.primitives.dot_general import dot_general_p
from sagax._src.primitives.makers import add_any_p
from sagax._src.primitives.shaping import concatenate_p, rev_p
from sagax._src.primitives.slicing import dynamic_slice_p, slice_p
from sagax._src.primitives.structural import (
    broadcast_in_dim_p,
    reduce_sum_p,
    reshape_p,
    squeeze_p,
    transpose_p,
)
from sagax.experimental.sparse._base import JAXSparse
from sagax.experimental.sparse._bcoo import (
    bcoo_broadcast_in_dim,
    bcoo_dynamic_slice,
    bcoo_fromdense,
    bcoo_reduce_sum,
    bcoo_reshape,
    bcoo_slice,
    bcoo_squeeze,
    bcoo_sum_duplicates,
    bcoo_transpose,
)
from sagax.experimental.sparse._formats import todense_p
from sagax.experimental.sparse._operands import refuse
from sagax.experimental.sparse._products import bcoo_dot_general
from sagax.experimental.sparse._windows import bcoo_concatenate, bcoo_conv_general_dilated, bcoo_rev

_RULES: dict[Primitive, Callable] = {}


def _is_sparse(x: Any) -> bool:
    return isinstance(x, JAXSparse)


def _rule(*primitives: Primitive) -> Callable:
    def register(rule: Callable) -> Callable:
        _RULES.update(dict.fromkeys(primitives, rule))
        return rule

    return register


def _keeps_zero(eqn: Any) -> bool:
    """Return whether an equation computes 0 from 0, each element from one."""
    primitive = eqn.primitive
    if len(eqn.invars) != 1 or not (primitive.elementwise or primitive.family is IDENTITY):
        return False
    zero = np.zeros((), eqn.invars[0].aval.dtype)
    with np.errstate(all="ignore"):  # such as the logarithm of 0
        return not np.any(primitive.reference_rule(zero, **eqn.params))


def _of_stored(eqn: Any, x: Any) -> Any:
    """Apply a function that keeps 0 to the stored elements, summed first unless it is linear."""
    if not eqn.primitive.multilinear and not x.unique_indices:
        x = bcoo_sum_duplicates(x)
    return x._with_data(eqn.primitive.bind(x.data, **eqn.params))


@_rule(mul_p)
def _(eqn: Any, x: Any, y: Any) -> Any:
    return x * y if _is_sparse(x) else y * x


@_rule(div_p)
def _(eqn: Any, x: Any, y: Any) -> Any:
    if _is_sparse(y):
        raise refuse("sparsify", "a division by a sparse array")
    return x / y


@_rule(add_p, add_any_p)
def _(eqn: Any, x: Any, y: Any) -> Any:
    return x + y if _is_sparse(x) else y + x


@_rule(sub_p)
def _(eqn: Any, x: Any, y: Any) -> Any:
    return x - y if _is_sparse(x) else -y + x


@_rule(dot_general_p)
def _(eqn: Any, x: Any, y: Any) -> Any:
    preferred = eqn.params.get("preferred_element_type")
    numbers = eqn.params["dimension_numbers"]
    return bcoo_dot_general(x, y, dimension_numbers=numbers, preferred_element_type=preferred)


@_rule(transpose_p)
def _(eqn: Any, x: Any) -> Any:
    return bcoo_transpose(x, permutation=eqn.params["permutation"])


@_rule(reduce_sum_p)
def _(eqn: Any, x: Any) -> Any:
    found = bcoo_reduce_sum(x, axes=eqn.params["axes"])
    return found.todense() if found.ndim == 0 else found


@_rule(reshape_p)
def _(eqn: Any, x: Any) -> Any:
    return bcoo_reshape(x, new_sizes=eqn.outvars[0].aval.shape)


@_rule(squeeze_p)
def _(eqn: Any, x: Any) -> Any:
    return bcoo_squeeze(x, dimensions=eqn.params["dimensions"])


@_rule(broadcast_in_dim_p)
def _(eqn: Any, x: Any) -> Any:
    shape, where = eqn.params["shape"], eqn.params["broadcast_dimensions"]
    return bcoo_broadcast_in_dim(x, shape=shape, broadcast_dimensions=where)


@_rule(concatenate_p)
def _(eqn: Any, *xs: Any) -> Any:
    parts = [x if _is_sparse(x) else bcoo_fromdense(x, nse=x.size) for x in xs]
    return bcoo_concatenate(parts, dimension=eqn.params["dimension"])


@_rule(slice_p)
def _(eqn: Any, x: Any) -> Any:
    p = eqn.params
    names = ("start_indices", "limit_indices", "strides")
    return bcoo_slice(x, **{n: p[n] for n in names})


@_rule(dynamic_slice_p)
def _(eqn: Any, x: Any, *starts: Any) -> Any:
    return bcoo_dynamic_slice(x, starts, eqn.params["slice_sizes"])


@_rule(rev_p)
def _(eqn: Any, x: Any) -> Any:
    return bcoo_rev(x, eqn.params["dimensions"])


@_rule(conv_general_dilated_p)
def _(eqn: Any, x: Any, y: Any) -> Any:
    x, y = [m if _is_sparse(m) else bcoo_fromdense(m, nse=m.size) for m in (x, y)]
    names = ("window_strides", "padding", "lhs_dilation", "rhs_dilation", "dimension_numbers")
    more = ("feature_group_count", "batch_group_count")
    return bcoo_conv_general_dilated(x, y, **{n: eqn.params[n] for n in (*names, *more)})


@_rule(todense_p)
def _(eqn: Any, x: Any) -> Any:
    return x.todense()


# Loops and branches run on pytrees, which sparse arrays are.


@_rule(scan_p)
def _(eqn: Any, *operands: Any) -> list:
    p, inner = eqn.params, eqn.params["jaxpr"]
    n, m = p["num_consts"], p["num_consts"] + p["num_carry"]
    consts, carry, xs = operands[:n], list(operands[n:m]), list(operands[m:])

    def body(carry: list, xs: Any) -> tuple:
        given = (*consts, *carry, *(xs or ()))
        outs = _run(inner.jaxpr, inner.consts, given)
        return outs[: p["num_carry"]], outs[p["num_carry"] :]

    options = {"length": p["length"], "reverse": p["reverse"], "unroll": p["unroll"]}
    carry, stacked = lax.scan(body, carry, xs or None, **options)
    return [*carry, *stacked]


@_rule(while_p)
def _(eqn: Any, *operands: Any) -> list:
    p = eqn.params
    n, m = p["cond_nconsts"], p["cond_nconsts"] + p["body_nconsts"]

    def part(name: str, consts: Any) -> Callable:
        closed = p[f"{name}_jaxpr"]
        return lambda carry: _run(closed.jaxpr, closed.consts, (*consts, *carry))

    condition = part("cond", operands[:n])
    body = part("body", operands[n:m])
    return lax.while_loop(lambda carry: condition(carry)[0], body, list(operands[m:]))


@_rule(cond_p)
def _(eqn: Any, index: Any, *operands: Any) -> list:
    branches = [
        lambda *xs, closed=closed: _run(closed.jaxpr, closed.consts, xs)
        for closed in eqn.params["branches"]
    ]
    return lax.switch(index.astype("int32"), branches, *operands)


def _run(jaxpr: Any, consts: Any, args: Any) -> list:
    """Run a jaxpr on sparse and dense arrays."""
    env = dict(zip((*jaxpr.constvars, *jaxpr.invars), (*consts, *args), strict=True))
    for eqn in jaxpr.eqns:
        ins = [v.val if type(v) is Literal else env[v] for v in eqn.invars]
        if not any(map(_is_sparse, ins)):
            outs = eqn.primitive.bind(*ins, **eqn.params)
        elif eqn.primitive in _RULES:
            outs = _RULES[eqn.primitive](eqn, *ins)
        elif _keeps_zero(eqn):
            outs = _of_stored(eqn, *ins)
        elif "jaxpr" in eqn.params and eqn.primitive.is_call:
            outs = _run(eqn.params["jaxpr"].jaxpr, eqn.params["jaxpr"].consts, ins)
        elif getattr(eqn.params.get("inner"), "jaxpr", None) is not None:  # custom derivatives
            outs = _run(eqn.params["inner"].jaxpr.jaxpr, (), ins)
        else:
            raise refuse(
                "sparsify",
                f"sparse rule for {eqn.primitive.name} is not implemented: it has no rule for sparse arrays",
                "convert the array where it is used: sparse.todense(x)",
            )
        many = eqn.primitive.multiple_results
        env.update(zip(eqn.outvars, outs if many else [outs], strict=True))
    return [v.val if type(v) is Literal else env[v] for v in jaxpr.outvars]


def sparsify(f: Callable, use_tracer: bool = False) -> Callable:
    """Let a function of dense arrays take sparse ones.

    Operations that keep zeros apply to stored elements; results may be sparse. What has no rule for sparse
    arrays is a NotImplementedError that names the operation.

    >>> f = sparse.sparsify(lambda m, x: snp.sin(m) @ x)
    >>> f(sparse.eye(2), snp.zeros(2)).tolist()
    [0.0, 0.0]
    """

    @wraps(f)
    def sparse_function(*args: Any, **kwargs: Any) -> Any:
        leaves, tree = trees.flatten((args, kwargs), _is_sparse)
        leaves = [x._bcoo() if _is_sparse(x) else x for x in leaves]
        out_tree = None

        def flat(*xs: Any) -> list:
            nonlocal out_tree
            given, named = tree.unflatten(xs)
            outs, out_tree = trees.flatten(f(*given, **named), _is_sparse)
            return outs

        avals = [ShapedArray(x.shape, x.dtype) if _is_sparse(x) else aval_of(x) for x in leaves]
        jaxpr, consts = stage(flat, avals)
        return out_tree.unflatten(_run(jaxpr, consts, leaves))  # type: ignore[attr-defined]

    return sparse_function


def _by_elements(transform: Callable) -> Callable:
    def of_sparse(
        fun: Callable, argnums: Any = 0, has_aux: bool = False, **options: Any
    ) -> Callable:
        arguments.check_callable(fun, transform.__name__)
        nums = argnums if isinstance(argnums, (tuple, list)) else (argnums,)

        @wraps(fun)
        def derivative(*args: Any, **kwargs: Any) -> Any:
            at = [n % len(args) for n in nums]
            flat = [trees.flatten(args[n], _is_sparse) for n in at]
            data = [[x.data if _is_sparse(x) else x for x in leaves] for leaves, _ in flat]

            def whole(parts: Any, wrap: Callable) -> tuple:
                return tuple(
                    tree.unflatten(
                        [wrap(x, y) if _is_sparse(x) else y for x, y in zip(leaves, part)]
                    )
                    for (leaves, tree), part in zip(flat, parts)
                )

            def of_data(parts: Any) -> Any:
                full = list(args)
                for n, x in zip(at, whole(parts, lambda x, y: x._with_data(y))):
                    full[n] = x
                return fun(*full, **kwargs)

            found = transform(of_data, has_aux=has_aux, **options)(data)
            gradient = found
            if transform is derivatives.value_and_grad:
                gradient = found[1]
            elif has_aux:
                gradient = found[0]
            made = whole(gradient, lambda x, y: x._with_data(snp.asarray(y)))
            result = made if isinstance(argnums, (tuple, list)) else made[0]
            if transform is derivatives.value_and_grad:
                return found[0], result
            return (result, found[1]) if has_aux else result

        return derivative

    return of_sparse


_grad, _value_and_grad = map(_by_elements, (derivatives.grad, derivatives.value_and_grad))


def _jacobian(name: str, transform: Callable) -> Callable:
    def of_sparse(fun: Callable, argnums: Any, has_aux: bool, options: dict) -> Callable:
        arguments.check_callable(fun, name)
        nums = argnums if isinstance(argnums, (tuple, list)) else (argnums,)

        @wraps(fun)
        def derivative(*args: Any, **kwargs: Any) -> Any:
            at = [n % len(args) for n in nums]
            flat = [trees.flatten(args[n], _is_sparse) for n in at]
            sizes = [len(leaves) for leaves, _ in flat]
            given = [x for leaves, _ in flat for x in leaves]
            data = [x.data if _is_sparse(x) else x for x in given]
            made: Any = None

            def of_data(data: list) -> Any:
                nonlocal made
                parts = iter([x._with_data(y) if _is_sparse(x) else y for x, y in zip(given, data)])
                full = list(args)
                for n, size, (_, tree) in zip(at, sizes, flat):
                    full[n] = tree.unflatten([next(parts) for _ in range(size)])
                found = fun(*full, **kwargs)
                out, aux = found if has_aux else (found, None)
                outs, made = trees.flatten(out, _is_sparse)
                if any(map(_is_sparse, outs)):
                    raise refuse(name, "a sparse result", "return a dense array: x.todense()")
                return (outs, aux) if has_aux else outs

            found = transform(of_data, has_aux=has_aux, **options)(data)
            slopes, aux = found if has_aux else (found, None)
            results = []
            for row in slopes:
                wrapped = iter([_of_elements(x, y) for x, y in zip(given, row)])
                parts = tuple(
                    tree.unflatten([next(wrapped) for _ in range(size)])
                    for size, (_, tree) in zip(sizes, flat)
                )
                results.append(parts if isinstance(argnums, (tuple, list)) else parts[0])
            result = made.unflatten(results)
            return (result, aux) if has_aux else result

        return derivative

    return of_sparse


def _of_elements(x: Any, slope: Any) -> Any:
    """Return derivatives by stored elements as a sparse array, with the dimensions of the result as batches."""
    if not _is_sparse(x):
        return slope
    m = x._bcoo()
    lead = slope.shape[: slope.ndim - m.data.ndim]
    if m.n_batch:
        raise refuse("jacobian", "the jacobian by a sparse array with batch dimensions")
    indices = snp.broadcast_to(m.indices, (*lead, *m.indices.shape))
    return m._like(slope, indices, (*lead, *m.shape), m.indices_sorted, m.unique_indices)


def jacfwd(fun: Callable, argnums: Any = 0, has_aux: bool = False, **kwargs: Any) -> Callable:
    """Return the Jacobian in forward mode, by the stored elements of sparse arguments.

    >>> sparse.jacfwd(lambda m: m @ snp.ones(2))(sparse.eye(2)).shape
    (2, 2, 2)
    """
    return _jacobian("jacfwd", jacobians.jacfwd)(fun, argnums, has_aux, kwargs)


def jacrev(fun: Callable, argnums: Any = 0, has_aux: bool = False, **kwargs: Any) -> Callable:
    """Return the Jacobian in reverse mode, by the stored elements of sparse arguments.

    >>> sparse.jacrev(lambda m: m @ snp.ones(2))(sparse.eye(2)).n_batch
    1
    """
    return _jacobian("jacrev", jacobians.jacrev)(fun, argnums, has_aux, kwargs)


jacobian = jacrev


def grad(fun: Callable, argnums: Any = 0, has_aux: bool = False, **kwargs: Any) -> Callable:
    """Return the gradient, by the stored elements of sparse arguments: sparse arrays with their indices.

    >>> f = lambda m: snp.sum((m @ snp.ones(2)) ** 2)
    >>> sparse.grad(f)(sparse.eye(2)).data.tolist()
    [2.0, 2.0]
    """
    return _grad(fun, argnums, has_aux, **kwargs)


def value_and_grad(
    fun: Callable, argnums: Any = 0, has_aux: bool = False, **kwargs: Any
) -> Callable:
    """Return the value and the gradient, as `sparse.grad`.

    >>> value, gradient = sparse.value_and_grad(lambda m: (m @ snp.ones(2)).sum())(sparse.eye(2))
    >>> float(value), gradient.data.tolist()
    (2.0, [1.0, 1.0])
    """
    return _value_and_grad(fun, argnums, has_aux, **kwargs)
