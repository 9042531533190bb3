"""Implement jvp, linearize, vjp and grad."""

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
    has_derivative,
    info_of,
    leaf_names,
    vjp_flat,
)
from sagax._src.api.jit import is_shaped, jit, shaped
from sagax._src.api.reference_arguments import ReferenceArguments
from sagax._src.argument_checks import checks
from sagax._src.argument_checks.functions import kind_of, structure_error, unusable_leaf
from sagax._src.core import dims, dtype_predicates, dtypes
from sagax._src.core.primitive import MissingRuleError
from sagax._src.core.staging import stage_closed
from sagax._src.core.tangents import Linear, Zero
from sagax._src.core.value import aval_of, is_operand
from sagax._src.diagnostics.boundary import function_name, tracing
from sagax._src.diagnostics.errors import (
    ArgumentError,
    ArgumentValueError,
    DtypeError,
    ShapeError,
    TreeError,
)
from sagax._src.diagnostics.function_wrappers import wraps
from sagax._src.higher_order.float0_leaves import is_no_tangent, without_no_tangents
from sagax._src.higher_order.trace_bodies import as_result, as_value, with_numbers
from sagax._src.lazy_import import lazy_imports
from sagax._src.primitives.makers import scalar_like
from sagax._src.primitives.structural import instantiate

if TYPE_CHECKING or lazy_imports():
    from sagax._src.api import eager_transforms
    from sagax._src.api import vjp_function as vjp_functions
    from sagax._src.transforms import jvp as jvp_transform
    from sagax._src.transforms import linearize as linearize_transform
    from sagax._src.transforms import transpose as transpose_transform


# Tangents and cotangents as users give them ------------------------------------------------------


def _check_tangents(
    leaves: Sequence[Any], paths: Callable[[], Sequence[str]], function: str
) -> None:
    """Raise, naming the leaf, unless every leaf is an array or a number; float0 arrays are allowed."""
    for i, x in enumerate(leaves):
        if not (is_operand(x) or is_no_tangent(x)):
            raise unusable_leaf(x, function, paths()[i], "pass an array or a number")


def _tangent_paths(paths: Callable[[], Sequence[str]]) -> Callable[[], Sequence[str]]:
    return lambda: [f"the tangent of {p}" for p in paths()]


def _cotangent_paths(cotangent: Any) -> Callable[[], Sequence[str]]:
    return lambda: [trees.argument_path("cotangent", p) for p in trees.key_paths(cotangent)]


def _only_cotangent(function: str, fun: Any, cotangents: tuple) -> Any:
    """Return the single argument of a cotangent function."""
    if len(cotangents) != 1:
        raise ArgumentError(
            f"the function takes one argument, the cotangent of the output of {function_name(fun)}; it was "
            f"called with {len(cotangents)}",
            function=function,
            argument="cotangent",
            got=f"{len(cotangents)} arguments",
            expected="one argument of the structure of the output",
            fix="where the output is a tuple pass one tuple: f((ct1, ct2))",
        )
    return cotangents[0]


def aval_of_tangent(t: Any) -> Any:
    """Return the aval of a tangent; float0 arrays are NumPy's."""
    if is_no_tangent(t):
        from_shape = aval_of(np.zeros(t.shape, bool))
        return from_shape.with_dtype(dtypes.float0)
    return aval_of(t)


# jvp ---------------------------------------------------------------------------------------------


def jvp(
    fun: Callable, primals: Sequence[Any], tangents: Sequence[Any], has_aux: bool = False
) -> tuple:
    """Compute `fun` at `primals` and its derivative in the direction `tangents`.

    Args:
      primals: positional arguments of `fun`: arrays, numbers or pytrees of them.
      tangents: the same structure, shapes and dtypes; float0 where a primal is an integer or boolean.
      has_aux: `fun` returns (output, auxiliary data); the data comes back as a third result.

    Raises:
      TypeError: the tangents do not fit the primals; the message names the leaf.

    >>> value, slope = sagax.jvp(lambda x: x * x, (3.0,), (1.0,))
    >>> float(value), float(slope)
    (9.0, 6.0)
    """
    arguments.check_callable(fun, "jvp")

    def make(fun: Any) -> Callable:
        return lambda primals, tangents: _jvp(fun, primals, tangents, has_aux)

    return eager_transforms.applied(fun, ("jvp", bool(has_aux)), make, (primals, tangents))


def _jvp(fun: Any, primals: Any, tangents: Any, has_aux: bool) -> tuple:
    for label, cotangents in (("primals", primals), ("tangents", tangents)):
        checks.instance(
            "jvp",
            label,
            cotangents,
            (tuple, list),
            "a tuple of arguments",
            message="primal and tangent arguments to jax.jvp must be tuples or lists",
            show=kind_of,
            fix="write jvp(fun, (x,), (t,)), with one-element tuples for one argument",
        )
    primals, tangents = tuple(primals), tuple(tangents)
    leaves, tree = trees.flatten_argument("jvp", "primals", primals)
    tangent_leaves, tangent_tree = trees.flatten_argument("jvp", "tangents", tangents)
    if tree != tangent_tree:
        found = trees.structure_mismatch(primals, tangents, "primals", "tangents")
        raise structure_error(
            "jvp",
            "primals and tangents differ in structure",
            found,
            "give each array in primals a tangent; zeros where there is no change",
        )
    if any(map(is_no_tangent, leaves)):
        tangent_leaves = [t for p, t in zip(leaves, tangent_leaves) if not is_no_tangent(p)]
        leaves, tree = without_no_tangents(leaves, tree)
    paths = functools.cache(lambda: arguments.leaf_paths(fun, primals, {}))
    arguments.check_operands(leaves, paths, "jvp", fun)
    references, tangent_references = ReferenceArguments(leaves), ReferenceArguments(tangent_leaves)
    leaves, tangent_leaves = references.values, tangent_references.values
    _check_tangents(tangent_leaves, _tangent_paths(paths), f"jvp of {function_name(fun)}")
    ins = []
    for i, (p, t) in enumerate(zip(leaves, tangent_leaves, strict=True)):
        want, have = aval_of(p).to_tangent_aval(), aval_of_tangent(t)
        if have.dtype != want.dtype or not dims.same_shape(have.shape, want.shape):
            kind = ArgumentError if have.dtype != want.dtype else ArgumentValueError
            raise kind(
                "primal and tangent arguments to jax.jvp do not match",
                function="jvp",
                argument=f"the tangent of {paths()[i]}",
                expected=f"{want.str_short(short_dtypes=False)}, the tangent type of {aval_of(p).str_short(short_dtypes=False)}",
                got=have,
                fix="for integer or boolean primals pass numpy.zeros(shape, dtype=sagax.dtypes.float0)"
                if want.dtype == dtypes.float0
                else "convert the tangent to the dtype and shape of its primal",
            )
        ins.append(Zero(want) if want.dtype == dtypes.float0 else as_value(t))
    flat = FlatFunction(fun, tree, "jvp", has_aux)
    with tracing(fun, "jvp"):
        info = info_of(fun, "jvp", paths)
        function = references.on_values(flat) if references else flat
        values = [as_value(p) for p in leaves]
        outs, out_tangents = jvp_transform.jvp_flat(function, values, ins, info)
    outs = with_numbers(outs, values, leaves)
    out_tangents = with_numbers(out_tangents, ins, tangent_leaves)
    if references:
        outs, written = references.split(outs)
        out_tangents, moved = references.split(out_tangents)
        references.store(written)
        tangent_references.store([instantiate(t) for t in moved])
    outs, aux = flat.split(outs)
    out_tangents = out_tangents[: len(outs)]
    result = (
        flat.out_tree.unflatten(outs),
        flat.out_tree.unflatten([instantiate(t) for t in out_tangents]),
    )
    return (*result, aux) if has_aux else result


def linearize(fun: Callable, *primals: Any, has_aux: bool = False) -> tuple:
    """Compute `fun` at `primals` and its derivative there, as a linear function of tangents.

    The derivative is computed once and can be applied to many tangents.

    >>> value, f_jvp = sagax.linearize(lambda x: x ** 3, 2.0)
    >>> float(f_jvp(1.0))
    12.0
    """
    arguments.check_callable(fun, "linearize")
    leaves, tree = arguments.flatten_arguments("linearize", fun, primals)
    paths = functools.cache(lambda: arguments.leaf_paths(fun, primals, {}))
    arguments.check_operands(leaves, paths, "linearize", fun)
    run = eager_transforms.jit_if_pure(fun, ("linearize", bool(has_aux)), primals)
    flat = FlatFunction(run, tree, "linearize", has_aux)
    values = [as_value(x) for x in leaves]
    marks = [has_derivative(x) for x in values]
    info = info_of(fun, "linearize", lambda: [p for p, m in zip(paths(), marks, strict=True) if m])
    with tracing(fun, "linearize"):
        outs, linear_map = linearize_transform.linearize_flat(flat, values, marks, None, info)
    outs, aux = flat.split(with_numbers(outs, values, leaves))
    out_tree = flat.out_tree
    avals = [aval_of(x).to_tangent_aval() for x in values]
    name = f"the linearized {function_name(fun)}"

    def apply(linear: Any, tangents: tuple) -> Any:
        cotangents, given_tree = trees.flatten_argument("linearize", "tangents", tangents)
        if given_tree != tree:
            found = trees.structure_mismatch(primals, tangents, "primals", "tangents")
            raise structure_error(
                name,
                "tangents differ in structure from primals",
                found,
                "call it with a tangent for each argument that was given to linearize",
            )
        _check_tangents(cotangents, _tangent_paths(paths), name)
        for i, (t, want) in enumerate(zip(cotangents, avals, strict=True)):
            have = aval_of_tangent(t)
            if have.dtype != want.dtype or not dims.same_shape(have.shape, want.shape):
                raise ArgumentValueError(
                    "linearized function called on tangent values inconsistent with the original primal values",
                    function=name,
                    argument=f"the tangent of {paths()[i]}",
                    expected=want,
                    got=have,
                    fix="convert the tangent to the dtype and shape of its primal",
                )
        given = [t for t, m in zip(cotangents, marks, strict=True) if m]
        moved = list(map(as_value, given))
        found = with_numbers(linear.apply(moved), moved, given)
        return out_tree.unflatten([instantiate(t) for t in found[:n_outs]])

    n_outs = len(outs)
    value, pushed = out_tree.unflatten(outs), vjp_functions.linearized(apply, linear_map, out_tree)
    return (value, pushed, aux) if has_aux else (value, pushed)


def linear_transpose(fun: Callable, *primals: Any, reduce_axes: Any = ()) -> Callable:
    """Transpose the linear function `fun`: return a function of cotangents of its result.

    `primals` only give shapes and dtypes of the arguments: arrays or `ShapeDtypeStruct`s. The result
    takes one argument of the structure of `fun`'s output and returns a tuple of cotangents.

    Raises TypeError if `fun` is not linear in its arguments.

    >>> double = sagax.linear_transpose(lambda x: 2 * x, snp.float32(0))
    >>> float(double(snp.float32(1))[0])
    2.0
    """
    arguments.check_callable(fun, "linear_transpose")
    leaves, tree = arguments.flatten_arguments("linear_transpose", fun, primals)
    paths = functools.cache(lambda: arguments.leaf_paths(fun, primals, {}))
    arguments.check_operands(
        [0 if is_shaped(x) else x for x in leaves], paths, "linear_transpose", fun
    )
    avals = [shaped(x) for x in leaves]
    flat = FlatFunction(fun, tree, "linear_transpose")
    with tracing(fun, "linear_transpose"):
        closed = stage_closed(flat, avals)
    out_tree = flat.out_tree
    _check_transposable(fun, avals, closed.out_avals)
    name = f"the transpose of {function_name(fun)}"

    def transposed(*cotangents: Any) -> Any:
        cotangent = _only_cotangent(name, fun, cotangents)
        cts, ct_tree = trees.flatten_argument(name, "cotangent", cotangent)
        if ct_tree != out_tree:
            found = trees.structure_mismatch(out_tree, cotangent, "output", "cotangent")
            raise structure_error(
                name,
                f"cotangent tree does not match function output: it differs from that of {function_name(fun)}",
                found,
                "give a cotangent for each array in the output, in the same containers",
            )
        ct_paths = _cotangent_paths(cotangent)
        _check_tangents(cts, ct_paths, name)
        for i, (ct, aval) in enumerate(zip(cts, closed.out_avals, strict=True)):
            have = aval_of_tangent(ct)
            if have.dtype != aval.dtype or not dims.same_shape(have.shape, aval.shape):
                raise ArgumentError(
                    "cotangent type does not match function output",
                    function=name,
                    argument=ct_paths()[i],
                    expected=aval,
                    got=have,
                    fix=_convert(ct_paths()[i], aval, have),
                )
        try:
            found = transpose_transform.checked_backward(
                closed.jaxpr, closed.consts, [Linear(a) for a in avals], [as_value(c) for c in cts]
            )
        except transpose_transform.NotLinearError as error:
            error.attach(
                function="linear_transpose",
                argument="fun",
                expected=f"{function_name(fun)} to be linear in its arguments",
                got=f"an application of {error.facts['primitive']} that is not",
                fix="transpose its derivative: sagax.linear_transpose(sagax.linearize(fun, x)[1], x)",
            )
            raise
        except MissingRuleError as error:
            error.attach(function="linear_transpose", expected=f"{function_name(fun)} to be linear")
            raise
        return tree.unflatten([instantiate(c) for c in found])

    return trees.Partial(transposed)


def _check_transposable(fun: Any, ins: Sequence[Any], outs: Sequence[Any]) -> None:
    """Check that linear functions map differentiable values to such, or integers to integers."""
    for fits in (dtypes.is_inexact, dtype_predicates.is_integer):
        if all(fits(a.dtype) for a in (*ins, *outs)):
            return
    raise DtypeError(
        "linear_transpose only supports [float or complex] -> [float or complex], and integer -> integer functions",
        function="linear_transpose",
        argument="fun",
        got=f"{function_name(fun)}, which maps {_types(ins)} to {_types(outs)}",
        fix="pass floating point primals, and transpose the part between floating point values",
    )


def _types(avals: Sequence[Any]) -> str:
    return f"[{', '.join([a.str_short(short_dtypes=False) for a in avals])}]"


def _convert(path: str, want: Any, have: Any) -> str:
    """Show a conversion of a value to the expected type."""
    if dims.same_shape(have.shape, want.shape):
        return f"convert it: {path}.astype({dtypes.name(want.dtype)!r})"
    return f"give it the shape of the output, {want.shape}"


# vjp ---------------------------------------------------------------------------------------------


def vjp(
    fun: Callable,
    *primals: Any,
    has_aux: bool = False,
    reduce_axes: Any = (),
    saveable_args: Any = True,
    in_nzs: Any = None,
    safe_where: bool | None = None,
) -> tuple:
    """Compute `fun` at `primals`, and return also its pullback.

    The pullback takes one argument of the structure of the value and returns a tuple with one
    cotangent for each primal. Integer and boolean primals get cotangents of dtype float0. With
    `safe_where` cotangents that a `where` masks stay zero (default: the option of that name).

    The pullback is a pytree of its residuals: `args_res`, those among the arguments, and `opaque_residuals`.
    `pullback.with_refs(ref, ...)` adds the gradients to references in place of returning them.

    Args:
      saveable_args: False, for all arguments or in a tuple prefix of them: `args_res` holds `NotSaveable()` in
        place of a value, which must be assigned before the pullback is called.
      in_nzs: False where an argument counts as a constant.

    >>> value, pull = sagax.vjp(lambda x, y: x * y, 3.0, 4.0)
    >>> tuple(map(float, pull(1.0)))
    (4.0, 3.0)
    """
    arguments.check_callable(fun, "vjp")
    leaves, tree = arguments.flatten_arguments("vjp", fun, primals)
    paths = functools.cache(lambda: arguments.leaf_paths(fun, primals, {}))
    arguments.check_operands(leaves, paths, "vjp", fun)
    run = fun if safe_where else eager_transforms.jit_if_pure(fun, ("vjp", bool(has_aux)), primals)
    references = ReferenceArguments(leaves)
    saveable = vjp_functions.flags(saveable_args, tree, "saveable_args")
    nonzero = None if in_nzs is None else vjp_functions.flags(in_nzs, tree, "in_nzs")
    values = [as_value(x) for x in references.values]
    outs, pull, out_tree, aux = vjp_flat(
        run, values, tree, "vjp", has_aux, paths, safe_where, references, nonzero, references.values
    )
    name = f"the function returned by vjp of {function_name(fun)}"
    out_avals = [aval_of(out).to_tangent_aval() for out in outs]

    def checked(cotangent: Any) -> list:
        """Flatten a cotangent of the output, and check its structure and types."""
        cts, ct_tree = trees.flatten_argument(name, "cotangent", cotangent)
        if ct_tree != out_tree:
            found = trees.structure_mismatch(out_tree, cotangent, "output", "cotangent")
            raise structure_error(
                name,
                f"unexpected tree structure of argument: it differs from the output of {function_name(fun)}",
                found,
                "give a cotangent for each array in the output, in the same containers",
                kind=TreeError,
            )
        paths = _cotangent_paths(cotangent)
        _check_tangents(cts, paths, name)
        checked = []
        for i, (ct, want) in enumerate(zip(cts, out_avals, strict=True)):
            have = aval_of_tangent(ct)
            # integer outputs have no cotangents: any value of their shape will do
            fits = have.dtype == want.dtype or want.dtype == dtypes.float0
            if not fits or not dims.same_shape(have.shape, want.shape):
                raise ArgumentValueError(
                    "unexpected JAX type (e.g. shape/dtype) for argument to vjp function",
                    function=name,
                    argument=paths()[i],
                    expected=want,
                    got=have,
                    fix=_convert(paths()[i], want, have),
                )
            checked.append(Zero(want) if want.dtype == dtypes.float0 else as_value(ct))
        return checked

    pullback = vjp_functions.vjp_function(
        pull, values, (tree, out_tree), references, saveable, checked, paths, name
    )
    value = out_tree.unflatten(outs)
    return (value, pullback, aux) if has_aux else (value, pullback)


def fwd_and_bwd(
    fun: Callable,
    argnums: int | Sequence[int],
    has_aux: bool = False,
    jitted: bool = True,
) -> tuple[Callable, Callable]:
    """Return the forward and the backward pass of `fun` as two functions, each compiled once.

    `fwd(*args)` returns (value, residuals), or (value, residuals, aux) with `has_aux`; `bwd(residuals, ct)` returns
    the cotangents of the arguments `argnums`: a tuple, or one cotangent for an int. Not jitted if not `jitted`.

    >>> fwd, bwd = sagax.fwd_and_bwd(lambda x, y: x * y, argnums=(0, 1))
    >>> value, residuals = fwd(3.0, 4.0)
    >>> tuple(map(float, bwd(residuals, 1.0)))
    (4.0, 3.0)
    """
    arguments.check_callable(fun, "fwd_and_bwd")
    single = checks.is_index(argnums)
    nums = checks.positions("fwd_and_bwd", "argnums", argnums)

    def fwd(*args: Any, **kwargs: Any) -> tuple:
        positions = arguments.pick_all(nums, len(args), "fwd_and_bwd", fun, beyond=ArgumentError)
        some = fix_other_arguments(fun, args, kwargs, positions)
        return vjp(some, *[args[k] for k in positions], has_aux=has_aux)

    def bwd(residuals: Any, cotangent: Any) -> Any:
        found = residuals(cotangent)
        return found[0] if single else found

    return (jit(fwd), jit(bwd)) if jitted else (fwd, bwd)


# grad --------------------------------------------------------------------------------------------


def value_and_grad(
    fun: Callable,
    argnums: int | Sequence[int] = 0,
    has_aux: bool = False,
    holomorphic: bool = False,
    allow_int: bool = False,
    reduce_axes: Any = (),
    *,
    safe_where: bool | None = None,
) -> Callable:
    """Return a function that computes `fun` and its gradient.

    `fun` returns a real scalar (a complex one with `holomorphic`). The result returns (value, gradient),
    or ((value, aux), gradient) with `has_aux`; the gradient has the structure of the argument `argnums`,
    and is a tuple of such for a sequence of argnums. `safe_where` as for `grad`.

    >>> value, slope = sagax.value_and_grad(lambda x: x ** 2)(3.0)
    >>> float(value), float(slope)
    (9.0, 6.0)
    """
    options = (argnums, has_aux, holomorphic, allow_int, safe_where)

    def make(fun: Any) -> Callable:
        return _value_and_grad("value_and_grad", fun, *options)

    return eager_transforms.derivative("value_and_grad", fun, make, options)


def grad(
    fun: Callable,
    argnums: int | Sequence[int] = 0,
    has_aux: bool = False,
    holomorphic: bool = False,
    allow_int: bool = False,
    reduce_axes: Any = (),
    *,
    safe_where: bool | None = None,
) -> Callable:
    """Return a function that computes the gradient of `fun`, whose result is a real scalar.

    Args:
      argnums: the positional argument(s) to differentiate; pytrees of floating point arrays.
      has_aux: `fun` returns (scalar, auxiliary data), and the result (gradient, auxiliary data).
      holomorphic: `fun` is complex differentiable and takes and returns complex numbers.
      allow_int: integer arguments are allowed; their gradient has dtype float0.
      safe_where: cotangents that a `where` masks stay zero, even where the masked function has an
        infinite derivative or none (default: the option of that name, which is off).

    Raises:
      TypeError: the output is no scalar, or input or output have a dtype without derivatives.

    >>> float(sagax.grad(snp.tanh)(0.0))
    1.0
    """
    options = (argnums, has_aux, holomorphic, allow_int, safe_where)

    def make(fun: Any) -> Callable:
        both = _value_and_grad("grad", fun, *options)

        @wraps(fun)
        def gradient(*args: Any, **kwargs: Any) -> Any:
            value, g = both(*args, **kwargs)
            return (g, value[1]) if has_aux else g

        return gradient

    return eager_transforms.derivative("grad", fun, make, options)


def _one(aval: Any) -> Any:
    """Return the cotangent 1 for a scalar of this type."""
    one = scalar_like(1, aval.dtype)
    return one.item() if aval.weak_type else one


def _value_and_grad(
    name: str,
    fun: Callable,
    argnums: Any,
    has_aux: bool,
    holomorphic: bool,
    allow_int: bool,
    safe_where: bool | None = None,
) -> Callable:
    arguments.check_callable(fun, name)
    single = checks.is_index(argnums)
    nums = checks.positions(name, "argnums", argnums)

    @wraps(fun)
    def both(*args: Any, **kwargs: Any) -> Any:
        positions = arguments.pick_all(nums, len(args), name, fun, beyond=ArgumentError)
        leaves, tree = arguments.flatten_arguments(name, fun, args, positions)
        check_inputs(name, fun, args, positions, leaves, holomorphic, allow_int)
        some = fix_other_arguments(fun, args, kwargs, positions)
        paths = functools.partial(leaf_names, fun, args, positions)
        outs, pull, out_tree, aux = vjp_flat(some, leaves, tree, name, has_aux, paths, safe_where)
        _check_output(name, fun, outs, out_tree, holomorphic, has_aux)
        (out,) = outs
        grads = tree.unflatten(pull([_one(aval_of(out))]))
        value = out_tree.unflatten([as_result(out)])
        return ((value, aux) if has_aux else value), (grads[0] if single else grads)

    return both


def _check_output(
    name: str, fun: Any, outs: Sequence[Any], out_tree: Any, holomorphic: bool, has_aux: bool
) -> None:
    if not trees.treedef_is_leaf(out_tree) or len(outs) != 1:
        if has_aux:
            fix = "return (loss, aux), the loss first"
        elif len(outs) > 1:
            fix = "to return more than the loss, pass has_aux=True and return (loss, aux)"
        else:
            fix = "return the loss itself, without a container around it"
        raise ArgumentError(
            f"Gradient only defined for scalar-output functions. Output was {out_tree}.",
            function=name,
            expected=f"{function_name(fun)} to return one scalar",
            got=kind_of(out_tree.unflatten(outs)),
            fix=fix,
        )
    aval = aval_of(outs[0])
    if aval.shape != ():
        raise ShapeError(
            f"Gradient only defined for scalar-output functions. Output had shape: {aval.shape}.",
            function=name,
            expected=f"{function_name(fun)} to return an array of shape ()",
            got=aval,
            fix="reduce it, with .sum() or .mean(); or use jacrev, or vmap(grad(...)) for one gradient an example",
        )
    if holomorphic:
        if not dtype_predicates.is_complex(aval.dtype):
            raise DtypeError(
                f"{name} with holomorphic=True requires outputs with complex dtype",
                function=name,
                got=aval,
                expected="complex numbers",
            )
    elif not dtype_predicates.is_floating(aval.dtype):
        fix = (
            "for holomorphic functions pass holomorphic=True; for others use sagax.vjp directly"
            if dtype_predicates.is_complex(aval.dtype)
            else "return a floating point value: derivatives of integers are zero everywhere"
        )
        raise DtypeError(
            f"{name} requires real-valued outputs (output dtype that is a sub-dtype of np.floating), but got "
            f"{dtypes.name(aval.dtype)}",
            function=name,
            got=aval,
            expected="a floating point scalar",
            fix=fix,
        )
