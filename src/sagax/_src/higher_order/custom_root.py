"""Implement `custom_root` and `custom_linear_solve`: differentiate through equations.

The derivative of the solution x(p) of f(x, p) = 0 solves the linear system (df/dx) x' = -(df/dp) p', by the
implicit function theorem; the derivative of the solution of A x = b solves A x' = b' - A' x.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from typing import Any

from sagax._src import trees
from sagax._src.argument_checks.functions import (
    check_function,
    check_results,
    kind_of,
    structure_error,
)
from sagax._src.core import dims, dtypes
from sagax._src.core.families import HIGHER_ORDER, UNTRACKED, Default
from sagax._src.core.jaxpr import ClosedJaxpr, eval_jaxpr
from sagax._src.core.operands import Groups
from sagax._src.core.primitive import Primitive
from sagax._src.core.tangents import Zero, linear_marks, nonzero_marks, nonzero_tangents
from sagax._src.core.value import aval_of, sockets
from sagax._src.diagnostics.errors import ArgumentError, ArgumentValueError, ShapeError
from sagax._src.diagnostics.function_wrappers import wraps
from sagax._src.frozen_class import record
from sagax._src.higher_order.call import call
from sagax._src.higher_order.custom_derivative_primitives import (
    FlatFunction,
    JvpRules,
    StageableFunction,
    custom_jvp_p,
)
from sagax._src.higher_order.custom_transpose import linear_call_p
from sagax._src.higher_order.trace_bodies import Body, operand_leaves, trace_body
from sagax._src.primitives.arithmetic import neg
from sagax._src.primitives.makers import add_tangents
from sagax._src.primitives.structural import convert, instantiate, zeros_of
from sagax._src.transforms.batch import batch_jaxpr, move_batch_dim
from sagax._src.transforms.linearize import linearize_jaxpr
from sagax._src.transforms.transpose import NotLinearError, transposed_from


def _pair(function: str, what: str, body: Body, has_aux: bool) -> tuple[Any, Any]:
    """Return the structures of a solution and of its auxiliary data."""
    if not has_aux:
        return body.out_tree, None
    children = trees.treedef_children(body.out_tree)
    node = body.out_tree.node_data()
    if len(children) != 2 or node is None or node[0] not in (tuple, list):
        raise ArgumentError(
            f"with has_aux=True {body.name} must return a pair (solution, auxiliary data)",
            function=function,
            argument=what,
            got=kind_of(body.out_tree.unflatten(body.jaxpr.out_avals)),
            expected="a pair (solution, auxiliary data)",
        )
    return children[0], children[1]


def _check_like(
    function: str,
    what: str,
    tree: Any,
    avals: Sequence[Any],
    reference: str,
    expected_tree: Any,
    expected: Sequence[Any],
    kind: Any = ArgumentError,
) -> None:
    """Raise, naming the leaf, unless the result of the function `what` has the type of `reference`."""
    if tree != expected_tree:
        found = trees.structure_mismatch(expected_tree, tree, reference, f"the result of {what}")
        raise structure_error(
            function,
            f"{what}() output pytree structure must match {reference}",
            found,
            f"return the containers of {reference}",
            kind=kind,
        )
    paths = trees.key_paths(expected_tree.unflatten(expected))
    for have, aval, path in zip(avals, expected, paths, strict=True):
        if not dims.same_shape(have.shape, aval.shape) or have.dtype != aval.dtype:
            shapes = not dims.same_shape(have.shape, aval.shape)
            raise (ShapeError if shapes and kind is ArgumentError else kind)(
                f"{what}() output shapes must match {reference}"
                if shapes
                else f"{what}() output dtypes must match {reference}",
                function=function,
                argument=trees.argument_path(f"the result of {what}", path),
                expected=aval,
                got=have,
                fix=f"return an array of the type of {trees.argument_path(reference, path)}",
            )


# custom_root ------------------------------------------------------------------------------------------


def custom_root(
    f: Callable,
    initial_guess: Any,
    solve: Callable,
    tangent_solve: Callable,
    has_aux: bool = False,
) -> Any:
    """Return a root of `f`, found by `solve`, with derivatives by the implicit function theorem.

    They are derivatives of the root with respect to the captured values of `f`, independent of `solve`.

    Args:
      f: maps a pytree like `initial_guess` to one like it.
      initial_guess: the start of the search; it has no derivatives.
      solve: `solve(f, initial_guess)` returns the root (with `has_aux` a pair of it and other data).
      tangent_solve: `tangent_solve(g, y)` solves `g(x) = y` for the linear function `g`: for numbers
        `lambda g, y: y / g(1.0)`, for vectors a solve with the Jacobian of `g`. Reverse mode transposes it.

    Raises:
      TypeError: the functions do not return the types of `initial_guess`; the message names the leaf.

    >>> def square_root(a):
    ...     newton = lambda f, x: lax.fori_loop(0, 8, lambda _, x: x - f(x) / (2 * x), x)
    ...     return lax.custom_root(lambda x: x * x - a, 1.0, newton, lambda g, y: y / g(1.0))
    >>> round(float(square_root(2.0)), 4), round(float(sagax.grad(square_root)(2.0)), 4)
    (1.4142, 0.3536)
    """
    functions = (("f", f), ("solve", solve), ("tangent_solve", tangent_solve))
    for what, fun in functions:
        check_function(fun, f"{what} must be a function", "custom_root", what)
    guess, tree = operand_leaves("custom_root", "initial_guess", initial_guess)
    avals = [aval_of(x) for x in guess]
    one = trees.treedef_tuple((tree,))
    body = trace_body(f, one, avals, transform="custom_root")
    _check_like(
        "custom_root", "f", body.out_tree, body.jaxpr.out_avals, "initial_guess", tree, avals
    )

    @wraps(solve)
    def search(start: Any) -> Any:
        return solve(f, start)

    found = trace_body(search, one, avals, transform="custom_root", same=("custom_root", f, solve))
    x_tree, aux_tree = _pair("custom_root", "solve", found, has_aux)
    n_x, n_f = tree.num_leaves, len(body.consts)
    x_avals = found.jaxpr.out_avals[:n_x]
    _check_like("custom_root", "solve", x_tree, x_avals, "initial_guess", tree, avals)
    name = f"custom_root of {body.name}"

    def solved(*xs: Any) -> list:
        return call(found.jaxpr, xs[n_f:], name=name)

    def jvp(primals: Sequence, tangents: Sequence) -> tuple[list, list]:
        outs = custom_jvp_p.bind(*primals, inner=StageableFunction(solved, name), rules=rules)
        pushed: list[Any] = [Zero.like(aval_of(o)) for o in outs]
        marks = nonzero_marks(tangents[:n_f])
        if any(marks):
            implicit = _implicit(body.jaxpr, [*primals[:n_f], *outs[:n_x]], marks)
            pushed[:n_x] = implicit(tangents[:n_f], tangent_solve, tree, name)
        return outs, pushed

    rules = JvpRules(FlatFunction(jvp, tangent_solve), True)
    outs = custom_jvp_p.bind(
        *body.consts, *found.consts, *guess, inner=StageableFunction(solved, name), rules=rules
    )
    root = tree.unflatten(outs[:n_x])
    return (root, aux_tree.unflatten(outs[n_x:])) if has_aux else root


def _implicit(f: ClosedJaxpr, at: Sequence[Any], marks: tuple) -> Callable[..., list]:
    """Differentiate the root of `f`, at its captured values (`marks` have tangents) and the root."""
    n_f, n_x = len(marks), len(at) - len(marks)
    floating = tuple(dtypes.is_inexact(aval_of(x).dtype) for x in at[n_f:])
    split = linearize_jaxpr(f, (*marks, *floating), (True,) * n_x)
    residuals = split.pick(at, call(split.known, at, name="custom_root"))
    tangents = [aval_of(x).to_tangent_aval() for x in at]
    still = [zeros_of(t) for t, m in zip(tangents[:n_f], marks, strict=True) if m]
    fixed = [zeros_of(t) for t, m in zip(tangents[n_f:], floating, strict=True) if m]

    def push(*live: Any) -> list:
        # a linear call, so that its Jacobian at an unknown does not depend on the unknown
        return linear_call_p.bind(
            *residuals,
            *live,
            jaxpr=split.linear,
            transposed=None,
            n_residuals=len(residuals),
            name="custom_root",
        )

    def tangent(moved: Sequence, tangent_solve: Callable, tree: Any, name: str) -> list:
        given = [instantiate(t) for t, m in zip(moved, marks, strict=True) if m]
        rhs = [neg(t) if m else t for t, m in zip(push(*given, *fixed), floating, strict=True)]

        def slope(dx: Any) -> Any:
            leaves, have = trees.flatten_argument(name, "the argument of g", dx)
            if have != tree:
                found = trees.structure_mismatch(tree, have, "x", "the argument of g")
                raise structure_error(name, "g takes what tangent_solve must return", found)
            live = []
            for d, t, m in zip(leaves, tangents[n_f:], floating, strict=True):
                if m:
                    d = d if hasattr(d, "aval") else sockets.concrete(d)
                    live.append(convert(d, t.dtype))
            return tree.unflatten(push(*still, *live))

        result = tangent_solve(slope, tree.unflatten(rhs))
        leaves, have = trees.flatten_argument(name, "the result of tangent_solve", result)
        check_results(leaves, result, name, tangent_solve)
        types = [aval_of(x) for x in leaves]
        _check_like(name, "tangent_solve", have, types, "x", tree, tangents[n_f:])
        return [
            t if m else Zero(a) for t, m, a in zip(leaves, floating, tangents[n_f:], strict=True)
        ]

    return tangent


# custom_linear_solve ----------------------------------------------------------------------------------

linear_solve_p = Primitive(
    "custom_linear_solve",
    family=HIGHER_ORDER,
    check_rule=Default("its jaxprs stand for a matrix: the solution is looked at"),
    key_rule=UNTRACKED,
    multiple_results=True,
    is_higher_order=True,
)

# Results: the solution, auxiliary data.


@record
class SolveOperands(Groups):
    """Operands of a linear solve: the captured values of each function, and the right-hand side."""

    matvec: list[Any]
    solve: list[Any]
    transpose_solve: list[Any]
    b: list[Any]


@record(eq=False)
class Solver:
    """The jaxprs of a linear solve, and the number of captured values of each."""

    matvec: ClosedJaxpr
    solve: ClosedJaxpr
    transpose_solve: ClosedJaxpr | None
    counts: tuple[int, int, int]
    n_x: int
    symmetric: bool
    name: str

    def vecmat(self) -> ClosedJaxpr:
        """Return the transpose of `matvec`: (captured, ct) -> cotangents."""
        return self.matvec if self.symmetric else transposed_from(self.matvec, self.counts[0])


@linear_solve_p.abstract
def _(*avals: Any, solver: Solver) -> list:
    return solver.solve.out_avals


@linear_solve_p.effect
def _(*, solver: Solver) -> frozenset:
    return solver.solve.effects


@linear_solve_p.show
def _(*, solver: Solver) -> dict:
    return {"name": solver.name, "matvec": solver.matvec, "solve": solver.solve}


@linear_solve_p.reference
def _(*xs: Any, solver: Solver) -> list:
    given = SolveOperands.split(xs, *solver.counts)
    return eval_jaxpr(solver.solve.jaxpr, (), *given.solve, *given.b)


@linear_solve_p.lower
def _(b: Any, *xs: Any, solver: Solver) -> list:
    given = SolveOperands.split(xs, *solver.counts)
    return b.call(solver.solve.jaxpr, [*given.solve, *given.b], solver.name)


def _solve_now(*xs: Any, solver: Solver) -> list:
    given = SolveOperands.split(xs, *solver.counts)
    return call(solver.solve, [*given.solve, *given.b], name=solver.name)


linear_solve_p.impl = _solve_now


@linear_solve_p.jvp
def _(primals: Sequence, tangents: Sequence, *, solver: Solver) -> tuple:
    outs = linear_solve_p.bind(*primals, solver=solver)
    operands = SolveOperands.split(primals, *solver.counts)
    moving = operands.like(tangents)
    marks = nonzero_marks(moving.matvec)
    rhs = moving.b
    if any(marks):
        n_x = solver.n_x
        split = linearize_jaxpr(solver.matvec, (*marks, *((False,) * n_x)), (True,) * n_x)
        at = [*operands.matvec, *outs[:n_x]]
        residuals = split.pick(at, call(split.known, at, name=solver.name))
        given = nonzero_tangents(moving.matvec)
        moved = call(split.linear, [*residuals, *given], name=solver.name)
        rhs = [add_tangents(t, neg(m)) for t, m in zip(rhs, moved, strict=True)]
    pushed: list[Any] = [Zero.like(aval_of(o)) for o in outs]
    if any(nonzero_marks(rhs)):
        given = dataclasses.replace(operands, b=list(map(instantiate, rhs)))
        solved = linear_solve_p.bind(*given.flat(), solver=solver)
        pushed[: solver.n_x] = solved[: solver.n_x]
    return outs, pushed


@linear_solve_p.transpose
def _(cts: Sequence, *args: Any, solver: Solver) -> list:
    n_captured = sum(solver.counts)
    if any(linear_marks(args[:n_captured])):
        raise NotLinearError(
            "the solution of a linear system is linear in the right-hand side only",
            function="custom_linear_solve",
        )
    if solver.transpose_solve is None:
        raise ArgumentError(
            "transpose_solve required for backwards mode automatic differentiation of custom_linear_solve",
            function=f"custom_linear_solve of {solver.name}",
            argument="transpose_solve",
            got=None,
            expected="a function that solves the transposed system",
            fix="pass transpose_solve=lambda vecmat, ct: ..., or symmetric=True where matvec is symmetric",
        )
    consts, solving, back, _ = SolveOperands.split(args, *solver.counts)
    i, j, k = solver.counts
    turned = Solver(
        solver.vecmat(),
        solver.transpose_solve,
        solver.solve,
        (i, k, j),
        solver.n_x,
        solver.symmetric,
        solver.name,
    )
    given = SolveOperands(consts, back, solving, list(map(instantiate, cts[: solver.n_x])))
    found = linear_solve_p.bind(*given.flat(), solver=turned)
    return [*[None] * n_captured, *found[: solver.n_x]]


@linear_solve_p.batch
def _(axis: Any, args: Sequence, in_dims: Sequence, *, solver: Solver) -> tuple:
    operands = SolveOperands.split(args, *solver.counts)
    where = operands.like(in_dims)
    n_x = solver.n_x
    b = [move_batch_dim(x, d, 0, axis) for x, d in zip(operands.b, where.b, strict=True)]

    def batched(closed: ClosedJaxpr, dims_: Sequence[Any]) -> ClosedJaxpr:
        return batch_jaxpr(closed, axis, (*dims_, *((0,) * n_x)), True)[0]

    back = solver.transpose_solve
    wider = Solver(
        batched(solver.matvec, where.matvec),
        batched(solver.solve, where.solve),
        None if back is None else batched(back, where.transpose_solve),
        solver.counts,
        n_x,
        solver.symmetric,
        solver.name,
    )
    outs = linear_solve_p.bind(*dataclasses.replace(operands, b=b).flat(), solver=wider)
    return outs, [0] * len(outs)


def custom_linear_solve(
    matvec: Callable,
    b: Any,
    solve: Callable,
    transpose_solve: Callable | None = None,
    symmetric: bool = False,
    has_aux: bool = False,
) -> Any:
    """Return the solution x of `matvec(x) = b`, found by `solve`, with derivatives by further solves.

    They are derivatives of the solution with respect to `b` and to the captured values of `matvec`, independent of
    `solve`.

    Args:
      matvec: a linear function from a pytree like `b` to one like it.
      solve: `solve(matvec, b)` returns the solution (with `has_aux` a pair of it and other data).
      transpose_solve: `transpose_solve(vecmat, ct)`, the same for the transpose of `matvec`; reverse mode needs it.
      symmetric: `matvec` is its own transpose, and `solve` is used for both.

    Raises:
      ValueError: the functions do not return the types of `b`; the message names the leaf.
      TypeError: in reverse mode without `transpose_solve`.

    >>> d = snp.array([2.0, 4.0])
    >>> solution = lambda d: lax.custom_linear_solve(
    ...     lambda x: d * x, snp.ones(2), lambda _, b: b / d, symmetric=True)
    >>> sagax.grad(lambda d: solution(d).sum())(d)
    Array([-0.25  , -0.0625], dtype=float32)
    """
    function = "custom_linear_solve"
    for what, fun in (("matvec", matvec), ("solve", solve)):
        check_function(fun, f"{what} must be a function", function, what)
    if transpose_solve is not None:
        what = "transpose_solve"
        check_function(transpose_solve, f"{what} must be a function", function, what)
    vector, tree = operand_leaves(function, "b", b)
    avals = [aval_of(x) for x in vector]
    one = trees.treedef_tuple((tree,))
    product = trace_body(matvec, one, avals, transform=function)
    like = ("b", tree, avals, ArgumentValueError)
    _check_like(function, "matvec", product.out_tree, product.jaxpr.out_avals, *like)
    n_x = len(avals)
    counts = [len(product.consts), 0, 0]

    def forward(x: Any) -> Any:
        leaves = trees.flatten(x)[0]
        return tree.unflatten(eval_jaxpr(product.jaxpr.jaxpr, (), *product.consts, *leaves))

    def solved(what: str, fun: Callable, multiply: Callable) -> tuple[Body, Any]:
        @wraps(fun)
        def one_solve(y: Any) -> Any:
            return fun(multiply, y)

        same = (function, what, fun, matvec)
        body = trace_body(one_solve, one, avals, transform=function, same=same)
        x_tree, aux_tree = _pair(function, what, body, has_aux)
        _check_like(function, what, x_tree, body.jaxpr.out_avals[:n_x], *like)
        return body, aux_tree

    found, aux_tree = solved("solve", solve, forward)
    operands = [*product.consts, *found.consts]
    counts[1] = len(found.consts)
    back = None
    if symmetric:
        back, counts[2] = found.jaxpr, counts[1]
        operands += found.consts
    elif transpose_solve is not None:

        def backward(x: Any) -> Any:
            leaves = trees.flatten(x)[0]
            vecmat = transposed_from(product.jaxpr, len(product.consts))
            return tree.unflatten(eval_jaxpr(vecmat.jaxpr, vecmat.consts, *product.consts, *leaves))

        turned, _ = solved("transpose_solve", transpose_solve, backward)
        back, counts[2] = turned.jaxpr, len(turned.consts)
        operands += turned.consts
    solver = Solver(
        product.jaxpr,
        found.jaxpr,
        back,
        (counts[0], counts[1], counts[2]),
        n_x,
        bool(symmetric),
        product.name,
    )
    outs = linear_solve_p.bind(*operands, *vector, solver=solver)
    solution = tree.unflatten(outs[:n_x])
    return (solution, aux_tree.unflatten(outs[n_x:])) if has_aux else solution
