"""Implement sharding constraints, reshard, and changes of axis types."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from sagax._src import config, trees
from sagax._src.api import arguments, jit_shardings
from sagax._src.api.jit import jit
from sagax._src.argument_checks import checks
from sagax._src.argument_checks.functions import unusable_leaf
from sagax._src.core import meshes
from sagax._src.core.meshes import AxisType, PartitionSpec
from sagax._src.core.shardings import NamedSharding, Sharding, ShardingError, shown_in_type
from sagax._src.core.trace import Tracer
from sagax._src.core.value import aval_of, is_operand
from sagax._src.diagnostics.errors import ArgumentError, SagaxError
from sagax._src.diagnostics.function_wrappers import wraps
from sagax._src.function_analysis.identity import combined_key
from sagax._src.lazy_import import lazy_imports
from sagax._src.primitives.resharding import (
    check_not_manual,
    left_to_compiler,
    mesh_in_types,
    reshard_p,
    with_out_sharding,
)
from sagax._src.runtime import device_put, placements

if TYPE_CHECKING or lazy_imports():
    from sagax._src.core import sharding_rules


class ConstraintError(SagaxError, AssertionError):
    """A constraint differs from the sharding in the type of a value."""

    code = "SX0215"


ConstraintError.__module__ = "sagax.errors"  # its public home


def _leaves(x: Any, shardings: Any, function: str, argument: str) -> tuple[list, list, list, Any]:
    leaves, tree = trees.flatten_argument(function, "x", x)
    paths = [trees.argument_path("x", path) for path in trees.key_paths(x)]
    for leaf, path in zip(leaves, paths, strict=True):
        if not is_operand(leaf):
            raise unusable_leaf(leaf, function, path, "pass arrays or numbers")
    mesh = mesh_in_types(leaves)
    return leaves, jit_shardings.spread(shardings, x, function, argument, "x", mesh), paths, tree


def _named(sharding: Any, x: Any, path: str, function: str) -> NamedSharding:
    """Express a given sharding over a mesh, if it fits the value."""
    checks.instance(
        function, "shardings", sharding, Sharding, "a sharding or a PartitionSpec", show=repr
    )
    aval = aval_of(x)
    if isinstance(sharding, NamedSharding):
        check_not_manual(sharding, function=function, argument=path)
    try:
        sharding.check_shape(aval.shape)
    except SagaxError as error:
        raise error.attach(function=function, argument=path) from None
    return placements.named(sharding, aval.ndim)


def with_sharding_constraint(x: Any, shardings: Any) -> Any:
    """Constrain the sharding of `x` (a pytree) in compiled code.

    Use it inside of jitted functions, for intermediate values; the compiler propagates it to
    others. If a mesh has Explicit axes it checks that the value is sharded so.

    Args:
      shardings: a sharding, a `PartitionSpec` for the mesh in force, or a pytree of these that is a
        prefix of `x`.

    Raises:
      ValueError: a sharding does not fit the shape; the message names the leaf and what would fit.
      RuntimeError: a bare `PartitionSpec`, and no mesh is in force.

    >>> from sagax.sharding import Mesh, NamedSharding, PartitionSpec as P
    >>> mesh = Mesh(sagax.devices()[:1], ("x",))
    >>> @sagax.jit
    ... def f(x):
    ...     return sagax.lax.with_sharding_constraint(snp.sin(x), NamedSharding(mesh, P("x")))
    >>> f(snp.zeros(2))
    Array([0., 0.], dtype=float32)
    """
    name = "with_sharding_constraint"
    leaves, given, paths, tree = _leaves(x, shardings, name, "shardings")
    found = []
    for leaf, sharding, path in zip(leaves, given, paths, strict=True):
        if sharding is None:
            found.append(leaf)
            continue
        named = _named(sharding, leaf, path, name)
        have = aval_of(leaf).explicit_sharding
        if have is not None and named.mesh.are_all_axes_explicit:
            _assert_same(have, named, leaf, path)
        found.extend(jit_shardings.constrained([leaf], [named]))
    return tree.unflatten(found)


def _assert_same(
    have: NamedSharding, requested_shardings: NamedSharding, x: Any, path: str
) -> None:
    shown = shown_in_type(requested_shardings, have_ndim := aval_of(x).ndim)
    if shown is None or shown.spec == have.spec:
        return
    raise ConstraintError(
        "`with_sharding_constraint` acts as an assert when all axes of mesh are of type `Explicit`",
        function="with_sharding_constraint",
        argument=path,
        expected=f"{shown.spec!r}",
        got=f"{have.spec!r}, the sharding in the type {aval_of(x).str_short(short_dtypes=True)}",
        fix=f"use sagax.sharding.reshard({path}, {PartitionSpec(*tuple(requested_shardings.spec)[:have_ndim])!r})",
        of=(x,),
    )


def reshard(x: Any, out_shardings: Any) -> Any:
    """Reshard `x` (a pytree) as the shardings say.

    For meshes with Explicit axes, whose values show their sharding in their types.

    Args:
      out_shardings: a sharding, a `PartitionSpec` for the mesh in force, or a pytree of these that is
        a prefix of `x`.

    Raises:
      ValueError: a sharding does not fit the shape; the message names the leaf and what would fit.

    >>> from sagax.sharding import PartitionSpec as P
    >>> with sagax.set_mesh(sagax.make_mesh((1,), ("x",))):
    ...     sagax.typeof(sagax.sharding.reshard(snp.zeros(4), P("x")))
    ShapedArray(float32[4@x])
    """
    leaves, given, paths, tree = _leaves(x, out_shardings, "reshard", "out_shardings")
    found = []
    for leaf, sharding, path in zip(leaves, given, paths, strict=True):
        if sharding is None:
            raise ArgumentError.about(
                "reshard", "out_shardings", None, f"a sharding or a PartitionSpec for {path}"
            )
        named = _named(sharding, leaf, path, "reshard")
        if not isinstance(leaf, Tracer):
            moved = device_put.put(leaf, named)
            if config.thread.settings.no_collectives:
                sharding_rules.check_no_collectives("reshard", [aval_of(leaf)], [aval_of(moved)])
            found.append(moved)
            continue
        moved = reshard_p.bind(leaf, sharding=jit_shardings.without_memory(named))
        found.append(jit_shardings.in_memory_of(moved, named))
    return tree.unflatten(found)


_compiled: dict[tuple, Callable] = {}
_LIMIT = 1024


def compiled_with_out_sharding(
    function: str, op: Callable, operands: Sequence[Any], sharding: NamedSharding
) -> Any:
    """Apply `with_out_sharding` as one executable, which is shared by equal operations."""
    arrays = [x for x in operands if not isinstance(x, str)]
    texts = [x if isinstance(x, str) else None for x in operands]

    def whole(*xs: Any) -> Any:
        given = iter(xs)
        full = [next(given) if text is None else text for text in texts]
        return with_out_sharding(function, op, full, sharding)

    if isinstance(op, functools.partial) and not op.args:
        same: Any = (op.func, *op.keywords.items())
    else:
        same = combined_key(op)
    key = (function, same, tuple(texts), sharding)
    try:
        found = _compiled.get(key)
    except TypeError:  # an option that cannot be hashed
        same = None
    if same is None:
        return jit(whole)(*arrays)
    if found is None:
        if len(_compiled) >= _LIMIT:
            _compiled.clear()
        found = _compiled[key] = jit(whole)
    return found(*arrays)


def auto_axes(f: Callable | None = None, *, axes: Any = None, out_sharding: Any = None) -> Callable:
    """Let the compiler choose the sharding of values inside `f` along axes of the mesh.

    Outside these axes are Explicit. Use it for operations without a sharding rule.

    Args:
      axes: the name of an axis, or a set of names; all Explicit axes if left out.
      out_sharding: the sharding of the result outside: a sharding, a `PartitionSpec`, or a pytree of
        these that is a prefix of the result. It may be given at the call instead.

    >>> from sagax.sharding import PartitionSpec as P, auto_axes
    >>> with sagax.set_mesh(sagax.make_mesh((1,), ("x",))):
    ...     x = sagax.sharding.reshard(snp.arange(4.0), P("x"))
    ...     sagax.typeof(auto_axes(snp.cumsum, out_sharding=P("x"))(x))
    ShapedArray(float32[4@x])
    """
    if f is None:
        return functools.partial(auto_axes, axes=axes, out_sharding=out_sharding)
    arguments.check_callable(f, "auto_axes")
    default = out_sharding

    @wraps(f)
    def within(*args: Any, out_sharding: Any = None, **kwargs: Any) -> Any:
        requested = default if out_sharding is None else out_sharding
        mesh = _mesh_for("auto_axes", (args, kwargs))
        names = _checked_names(axes, mesh, "auto_axes")
        if requested is None:
            raise ArgumentError(
                function="auto_axes",
                argument="out_sharding",
                got=None,
                expected="how the result is divided, such as PartitionSpec('x')",
            )
        inner = mesh.update_axis_types(dict.fromkeys(names, AxisType.Auto))

        def compute(args: tuple, kwargs: dict) -> Any:
            with meshes.entered(abstract_mesh=inner):
                given = trees.map(lambda x: left_to_compiler(x, names), (args, kwargs))
                result = f(*given[0], **given[1])
            requested_shardings = jit_shardings.spread(
                requested, result, "auto_axes", "out_sharding", "result", mesh
            )
            return reshard(result, _as_tree(result, requested_shardings))

        return jit(compute)(args, kwargs)

    return within


def explicit_axes(
    f: Callable | None = None, *, axes: Any = None, in_sharding: Any = None
) -> Callable:
    """Make axes of the mesh Explicit inside `f` that are left to the compiler outside.

    Args:
      axes: the name of an axis, or a set of names; all if left out.
      in_sharding: the sharding of the arguments inside: a sharding, a `PartitionSpec`, or a pytree of
        these that is a prefix of the tuple of arguments. It may be given at the call instead.

    >>> from sagax.sharding import AxisType, PartitionSpec as P, explicit_axes
    >>> with sagax.set_mesh(sagax.make_mesh((1,), ("x",), (AxisType.Auto,))):
    ...     explicit_axes(lambda x: print(sagax.typeof(x)) or x, in_sharding=P("x"))(snp.zeros(4))
    float32[4@x]
    Array([0., 0., 0., 0.], dtype=float32)
    """
    if f is None:
        return functools.partial(explicit_axes, axes=axes, in_sharding=in_sharding)
    arguments.check_callable(f, "explicit_axes")
    default = in_sharding

    @wraps(f)
    def within(*args: Any, in_sharding: Any = None, **kwargs: Any) -> Any:
        requested = default if in_sharding is None else in_sharding
        mesh = _mesh_for("explicit_axes", (args, kwargs))
        names = _checked_names(axes, mesh, "explicit_axes")
        if requested is None:
            raise ArgumentError(
                function="explicit_axes",
                argument="in_sharding",
                got=None,
                expected="how the arguments are divided, such as PartitionSpec('x')",
            )
        inner = mesh.update_axis_types(dict.fromkeys(names, AxisType.Explicit))
        left = [n for n in names if n not in mesh.explicit_axes]

        def compute(args: tuple, kwargs: dict) -> Any:
            requested_shardings = jit_shardings.spread(
                requested, args, "explicit_axes", "in_sharding", "the arguments", mesh
            )
            requested_shardings = [s and NamedSharding(inner, s.spec) for s in requested_shardings]  # type: ignore[union-attr]
            with meshes.entered(abstract_mesh=inner):
                result = f(*reshard(args, _as_tree(args, requested_shardings)), **kwargs)
            return trees.map(lambda x: left_to_compiler(x, left), result) if left else result

        return jit(compute)(args, kwargs)

    return within


def _as_tree(tree: Any, leaves: list) -> Any:
    return trees.structure(tree).unflatten(leaves)


def _mesh_for(function: str, values: Any) -> Any:
    """Return the mesh in force, or that of the argument types."""
    mesh = meshes.get_abstract_mesh()
    if mesh.empty:
        mesh = mesh_in_types(trees.leaves(values))
    if mesh is None:
        raise ArgumentError(
            f"{function} needs a mesh: none is in force, and no argument shows one in its type",
            function=function,
            fix="call it inside `with sagax.set_mesh(mesh):`",
        )
    return mesh


def _checked_names(axes: Any, mesh: Any, function: str) -> tuple:
    if axes is None:
        return mesh.axis_names
    names = (axes,) if isinstance(axes, str) else tuple(axes)
    unknown = [n for n in names if n not in mesh.axis_names]
    if unknown:
        raise ShardingError(
            function=function,
            argument="axes",
            got=", ".join(map(repr, unknown)),
            expected=f"axes of {mesh}",
        )
    return names
