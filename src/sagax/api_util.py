"""Flatten and describe the arguments of functions, with jax's helpers for libraries.

>>> from sagax import api_util
>>> api_util.shaped_abstractify(np.ones((2, 3), np.float32))
ShapedArray(float32[2,3])
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from sagax._src import trees
from sagax._src.api.shape_dtype_struct import shaped
from sagax._src.core.jaxpr import DebugInfo
from sagax._src.diagnostics.boundary import function_name
from sagax._src.diagnostics.errors import ArgumentValueError
from sagax.extend import linear_util as lu

__all__ = [
    "argnums_partial",
    "debug_info",
    "donation_vector",
    "flatten_axes",
    "flatten_fun",
    "flatten_fun_nokwargs",
    "rebase_donate_argnums",
    "safe_map",
    "safe_zip",
    "shaped_abstractify",
]


def shaped_abstractify(x: Any) -> Any:
    """Return the type of an array, a number or a `ShapeDtypeStruct`.

    >>> api_util.shaped_abstractify(1.0)
    ShapedArray(float32[], weak_type=True)
    """
    return shaped(x)


def argnums_partial(
    f: lu.WrappedFun,
    dyn_argnums: int | Sequence[int],
    args: Sequence[Any],
    require_static_args_hashable: bool = True,
) -> tuple[lu.WrappedFun, tuple[Any, ...]]:
    """Bind all arguments but those at `dyn_argnums`; return the function of these, and their values.

    Raises ValueError if a bound argument cannot be hashed, and `require_static_args_hashable`.

    >>> from sagax.extend import linear_util as lu
    >>> f, dynamic = api_util.argnums_partial(lu.wrap_init(pow), 0, (2, 5))
    >>> f.call_wrapped(3), dynamic
    (243, (2,))
    """
    numbers = (dyn_argnums,) if isinstance(dyn_argnums, int) else tuple(dyn_argnums)
    dynamic = sorted({k % len(args) for k in numbers})
    bound = {i: x for i, x in enumerate(args) if i not in dynamic}
    if require_static_args_hashable:
        for i, x in bound.items():
            try:
                hash(x)
            except TypeError:
                raise ArgumentValueError(
                    f"argument {i} of {function_name(f.f)} is bound, and a value of type {type(x).__name__} "
                    "cannot be hashed",
                    function="argnums_partial",
                    argument="args",
                    expected="hashable values at the positions outside of dyn_argnums",
                    fix="add its position to dyn_argnums, or pass require_static_args_hashable=False",
                ) from None

    def partial(call: Callable[..., Any], *given: Any, **kwargs: Any) -> Any:
        values = iter(given)
        full = [bound[i] if i in bound else next(values) for i in range(len(args))]
        return call(*full, **kwargs)

    key = (tuple(dynamic), tuple(bound.items()) if require_static_args_hashable else id(bound))
    return f.wrapped(partial, (argnums_partial, key)), tuple(args[i] for i in dynamic)


def debug_info(
    traced_for: str,
    fun: Callable[..., Any],
    args: Sequence[Any],
    kwargs: Mapping[str, Any],
    **_: Any,
) -> DebugInfo:
    """Describe a function and its arguments, for messages.

    >>> info = api_util.debug_info("jit", lambda x, y: x, (1.0, {"a": 2.0}), {})
    >>> info.arg_names
    ('x', "y['a']")
    """

    def names() -> list[str]:
        try:
            bound = inspect.signature(fun).bind(*args, **kwargs)
            named = list(bound.arguments.items())
        except (TypeError, ValueError):
            named = [*((f"args[{i}]", x) for i, x in enumerate(args)), *kwargs.items()]
        return [trees.argument_path(name, p) for name, x in named for p in trees.key_paths(x)]

    return DebugInfo(function_name(fun), names, (), traced_for, getattr(fun, "__code__", None))


@lu.transformation_with_aux2
def flatten_fun(f: Callable[..., Any], store: Any, in_tree: Any, *leaves: Any) -> Any:
    """Turn a function of `(args, kwargs)` into one of leaves, with a thunk for its output tree."""
    args, kwargs = in_tree.unflatten(leaves)
    out, tree = trees.flatten(f(*args, **kwargs))
    store.store(tree)
    return out


@lu.transformation_with_aux2
def flatten_fun_nokwargs(f: Callable[..., Any], store: Any, in_tree: Any, *leaves: Any) -> Any:
    """Turn a function of positional arguments into one of leaves: `in_tree` is that of `args`."""
    out, tree = trees.flatten(f(*in_tree.unflatten(leaves)))
    store.store(tree)
    return out


def flatten_axes(name: str, treedef: Any, axis_tree: Any, **_: Any) -> list[Any]:
    """Broadcast `axis_tree`, a prefix of a tree of this structure, to its leaves.

    >>> tree = sagax.tree.structure((1, (2, 3)))
    >>> api_util.flatten_axes("in_axes", tree, (0, None))
    [0, None, None]
    """
    template = treedef.unflatten([object()] * treedef.num_leaves)
    return trees.broadcast_prefix(axis_tree, template, is_leaf=lambda x: x is None)


def donation_vector(
    donate_argnums: Sequence[int], donate_argnames: Sequence[str], in_tree: Any, kws: bool = True
) -> tuple[bool, ...]:
    """Mark the leaves of donated arguments; `in_tree` is that of `(args, kwargs)`, without `kws` of `args`.

    >>> tree = sagax.tree.structure(((1.0, [2.0, 3.0]), {"k": 4.0}))
    >>> api_util.donation_vector((1,), (), tree)
    (False, True, True, False)
    """
    template = in_tree.unflatten([object()] * in_tree.num_leaves)
    args, kwargs = template if kws else (template, {})
    marks: list[bool] = []
    for i, x in enumerate(args):
        marks += [i in donate_argnums] * len(trees.leaves(x))
    for name in sorted(kwargs):
        marks += [name in donate_argnames] * len(trees.leaves(kwargs[name]))
    return tuple(marks)


def rebase_donate_argnums(
    donate_argnums: Sequence[int], static_argnums: Sequence[int]
) -> tuple[int, ...]:
    """Return the positions of donated arguments among those that are not static.

    >>> api_util.rebase_donate_argnums((1, 3), (0, 2))
    (0, 1)
    """
    return tuple(k - sum(s < k for s in static_argnums) for k in sorted(set(donate_argnums)))


def safe_map(fun: Callable[..., Any], *sequences: Iterable[Any]) -> list[Any]:
    """Map `fun` over sequences of equal length, to a list.

    >>> api_util.safe_map(max, [1, 5], [3, 2])
    [3, 5]
    """
    return [fun(*xs) for xs in zip(*sequences, strict=True)]


def safe_zip(*sequences: Iterable[Any]) -> list[tuple[Any, ...]]:
    """Zip sequences of equal length, to a list.

    >>> api_util.safe_zip([1, 2], "ab")
    [(1, 'a'), (2, 'b')]
    """
    return list(zip(*sequences, strict=True))
