"""Implement make_jaxpr, eval_shape, device_put, named_scope and other utilities."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from sagax._src import source_stacks, trees
from sagax._src.api import arguments
from sagax._src.api.jit import JitFunction, clear_caches, jit
from sagax._src.api.shape_dtype_struct import ShapeDtypeStruct
from sagax._src.argument_checks import checks
from sagax._src.argument_checks.functions import kind_of, unusable_leaf
from sagax._src.core import dtypes
from sagax._src.core.avals import Space
from sagax._src.core.layouts import Format
from sagax._src.core.meshes import PartitionSpec
from sagax._src.core.primitive import clear_cached_types
from sagax._src.core.shardings import Sharding, ShardingError
from sagax._src.core.trace import AxisTrace, NamedAxis, Trace, Tracer, current, evaluation, state
from sagax._src.core.value import aval_of, is_operand
from sagax._src.diagnostics.errors import ArgumentError, ArgumentValueError, NotAnArrayError
from sagax._src.diagnostics.function_wrappers import wraps
from sagax._src.lazy_import import lazy_imports
from sagax._src.lowering.text import tensor_type
from sagax._src.primitives.resharding import in_memory_space
from sagax._src.primitives.structural import zeros_of
from sagax._src.runtime import eager, map_limit
from sagax._src.runtime.array import ConcreteArray, block_all
from sagax._src.source_stacks import joined_scopes, written

if TYPE_CHECKING or lazy_imports():
    from sagax._src.api import eager_transforms, jit_shardings
    from sagax._src.higher_order import trace_cache
    from sagax._src.runtime import device_put as runtime_device_put
    from sagax._src.transforms import transpose


def make_jaxpr(
    fun: Callable,
    static_argnums: Any = (),
    axis_env: Any = None,
    return_shape: bool = False,
    abstracted_axes: Any = None,
) -> Callable:
    """Return a function that traces `fun` and returns its jaxpr instead of running it.

    Arguments are arrays, numbers, `ShapeDtypeStruct`s or pytrees of them. With `return_shape` the result
    is (jaxpr, shapes and dtypes of the output). `axis_env` holds the (name, size) of named axes that the
    function's collectives may refer to.

    >>> sagax.make_jaxpr(lambda x: x * 2 + 1)(3.0)
    { lambda ; a:f32[]. let
        b:f32[] = mul a 2.0:f32[]
        c:f32[] = add b 1.0:f32[]
      in (c,) }
    """
    arguments.check_callable(fun, "make_jaxpr")
    axes = [NamedAxis(name, size) for name, size in axis_env or ()]
    jitted = JitFunction(
        fun,
        static_argnums=static_argnums,
        static_argnames=None,
        donate_argnums=None,
        donate_argnames=None,
        keep_unused=True,
        device=None,
        inline=False,
    )

    @wraps(fun)
    def make(*args: Any, **kwargs: Any) -> Any:
        with current(AxisTrace(state.trace, axes)):
            traced = jitted.trace(*args, **kwargs)
        return (traced.jaxpr, traced.out_info) if return_shape else traced.jaxpr

    return make


def eval_shape(fun: Callable, *args: Any, **kwargs: Any) -> Any:
    """Compute the shapes and dtypes of `fun(*args, **kwargs)`, without computing values.

    >>> sagax.eval_shape(snp.outer, snp.zeros(3), snp.zeros(2))
    ShapeDtypeStruct(shape=(3, 2), dtype=float32)
    """
    arguments.check_callable(fun, "eval_shape")
    try:
        hash(fun)
    except TypeError:
        fun = functools.partial(fun)
    jitted = fun if isinstance(fun, JitFunction) else jit(fun)
    try:
        return jitted.eval_shape(*args, **kwargs)
    except (ArgumentError, NotAnArrayError) as error:
        if type(error.facts.get("leaf")) is not ShapeDtypeStruct:
            raise
        return jit(_filled(fun)).eval_shape(*args, **kwargs)


def _filled(fun: Callable) -> Callable:
    """Replace shapes in the result of `fun`, and in its calls of jitted functions, with arrays."""

    def fill(x: Any) -> Any:
        return zeros_of(x.aval) if type(x) is ShapeDtypeStruct else x

    @wraps(fun)
    def filled(*args: Any, **kwargs: Any) -> Any:
        before = arguments.shapes_as_arrays.set(fill)
        try:
            return trees.tree_map(fill, fun(*args, **kwargs))
        finally:
            arguments.shapes_as_arrays.reset(before)

    return filled


def typeof(x: Any) -> Any:
    """Return the type of a value in traced functions.

    >>> sagax.typeof(3.0)
    ShapedArray(float32[], weak_type=True)
    """
    if not is_operand(x) and not hasattr(x, "aval"):
        raise unusable_leaf(x, "typeof", "x", "pass an array or a number")
    return aval_of(x)


def block_until_ready(x: Any) -> Any:
    """Wait until all arrays in the pytree `x` have been computed; return `x`.

    >>> sagax.block_until_ready(snp.ones(2) + 1)
    Array([2., 2.], dtype=float32)
    """
    block_all(trees.leaves(x))
    return x


def device_put(
    x: Any,
    device: Any = None,
    *,
    src: Any = None,
    donate: bool = False,
    may_alias: bool | None = None,
) -> Any:
    """Put `x` (a pytree of arrays or numbers) on devices, and commit it to them if `device` is given.

    Args:
      device: a device, a sharding, a `PartitionSpec` for the mesh in force, a `memory.Space`,
        None (unchanged), or a pytree of these that is a prefix of `x`.
      src: the source device; accepted and ignored.
      donate: delete the arrays of `x`.
      may_alias: False copies `x` even if it is on that device already; otherwise memory may be shared.

    Raises:
      TypeError: `x` has a leaf that is neither array nor number; the message names the leaf.
      ValueError: `device` is no device, or does not fit `x`.

    >>> sagax.device_put(3, sagax.devices()[0]).committed
    True
    """
    if donate and may_alias:
        raise ArgumentValueError(
            "may_alias and donate cannot be True at the same time",
            function="device_put",
            argument="may_alias",
            got=may_alias,
            expected="None or False where the arrays are donated",
        )
    leaves, tree = trees.flatten_argument("device_put", "x", x)
    for i, leaf in enumerate(leaves):
        if not is_operand(leaf):
            path = trees.argument_path("x", trees.key_paths(x)[i])
            raise unusable_leaf(leaf, "device_put", path, "keep it where it is")
    devices = _spread_device(device, x) if _is_container(device) else [device] * len(leaves)
    for where in devices if leaves else [device]:
        if not (where is None or hasattr(where, "client") or _no_leaf(where)):
            raise ArgumentValueError(
                function="device_put",
                argument="device",
                got=kind_of(where),
                expected="a device from sagax.devices(), a sharding, None, or a pytree of these",
            )
    found = []
    for i, (leaf, where) in enumerate(zip(leaves, devices, strict=True)):
        try:
            found.append(_put(leaf, where))
        except ShardingError as error:
            path = trees.argument_path("x", trees.key_paths(x)[i])
            raise error.attach(function="device_put", argument=path) from None
        if isinstance(leaf, ConcreteArray) and (donate or may_alias is False):
            shared = _shares(leaf, found[-1])
            if may_alias is False and shared:
                found[-1] = found[-1].copied()
            elif donate and not shared:
                path = trees.argument_path("x", trees.key_paths(x)[i])
                leaf.give_away((device_put, path, source_stacks.stack()))
    return tree.unflatten(found)


def _shares(x: ConcreteArray, y: Any) -> bool:
    """Return whether two arrays share a buffer, so that deleting one deletes both."""
    return x is y or (x._buffer is not None and x._buffer is y._buffer)


def _is_container(device: Any) -> bool:
    return device is not None and trees.is_tree_node(type(device))


def _no_leaf(x: Any) -> bool:
    return x is None or isinstance(x, (Sharding, PartitionSpec, Format, Space))


def _spread_device(device: Any, x: Any) -> list:
    """Return the device for each leaf of `x`."""
    found = trees.prefix_mismatch(device, x, "device", "x", is_leaf=_no_leaf)
    if found:
        raise ArgumentValueError(
            f"device_put device specification must be a tree prefix of the corresponding value: {found[0]}",
            function="device_put",
            argument="device",
            got=kind_of(device),
            expected="a prefix of the structure of x",
        )
    return trees.broadcast_prefix(device, x, is_leaf=_no_leaf)


def _put(x: Any, device: Any) -> Any:
    if isinstance(device, (PartitionSpec, Format)):
        device = jit_shardings.resolved(device, "device_put", "device")
    if isinstance(device, Space):
        if device is Space.Any:
            return x
        if isinstance(x, Tracer) or state.trace.records:
            return in_memory_space(x, device)
        return runtime_device_put.put(x, _in_space(runtime_device_put.put(x, None), device))
    if isinstance(x, Tracer):
        return jit_shardings.constrained([x], [device])[0]
    return runtime_device_put.put(x, device)


def _in_space(x: Any, space: Space) -> Sharding:
    """Return the sharding of an array with another kind of memory."""
    device = next(iter(x.sharding.device_set))
    own = device.default_memory().kind
    return x.sharding.with_memory_kind(own if space is Space.Device else "pinned_host")


def device_get(x: Any) -> Any:
    """Copy every array in the pytree `x` to a NumPy array; arrays of PRNG keys stay as they are.

    >>> sagax.device_get({"a": snp.arange(2)})
    {'a': array([0, 1], dtype=int32)}
    """
    leaves, tree = trees.flatten_argument("device_get", "x", x)
    return tree.unflatten([_get(leaf) for leaf in leaves])


def _get(x: Any) -> Any:
    """Return the data of an array; a value without data (yet) is returned unchanged."""
    if type(x) is ConcreteArray:
        return x if dtypes.is_extended(x.aval.dtype) else x.fetched().__array__()
    return x.__array__() if hasattr(x, "__array__") and not isinstance(x, Tracer) else x


@contextmanager
def named_scope(name: str) -> Iterator[None]:
    """Context manager: operations traced inside carry `name` in the executable and in profiles.

    >>> with sagax.named_scope("encoder"):
    ...     pass
    """
    checks.instance("named_scope", "name", name, str, "a string")
    here = written.here
    before = here.scope
    here.scope = joined_scopes(before, name)
    try:
        yield
    finally:
        here.scope = before


def named_call(fun: Callable, *, name: str | None = None) -> Callable:
    """Wrap `fun` in a name scope (default: its own name).

    >>> sagax.named_call(lambda x: x + 1, name="step")(1)
    2
    """
    arguments.check_callable(fun, "named_call")
    label = name or getattr(fun, "__name__", "fun")

    @wraps(fun)
    def inside(*args: Any, **kwargs: Any) -> Any:
        with named_scope(label):
            return fun(*args, **kwargs)

    return inside


@contextmanager
def ensure_compile_time_eval() -> Iterator[None]:
    """Context manager: evaluate operations on concrete values eagerly, even while tracing.

    Operations on traced values are traced as outside.

    >>> @sagax.jit
    ... def f(x):
    ...     with sagax.ensure_compile_time_eval():
    ...         n = int(snp.sum(snp.arange(4)))
    ...     return x * n
    >>> f(2)
    Array(12, dtype=int32, weak_type=True)
    """
    with current(_KnownValues(state.trace)):
        yield


class _KnownValues(Trace):
    """A trace that evaluates operations on concrete values; it passes those on traced values to the
    parent trace.
    """

    __slots__ = ()

    def process(self, primitive: Any, args: tuple, params: dict) -> Any:
        traced = any(isinstance(a, Tracer) for a in args)
        with current(self.parent if traced else evaluation):
            return primitive.bind(*args, **params)


also_cleared: dict[Any, Any] = {}  # caches of libraries, with a method `cache_clear`


def clear_all_caches() -> None:
    """Clear all traces and executables, of jitted functions and of single operations, and the types of their results.

    >>> sagax.clear_caches()
    """
    clear_caches()
    eager_transforms.clear()
    trace_cache.clear()
    eager.clear()
    transpose.clear()
    clear_cached_types()
    tensor_type.cache_clear()
    for cache in also_cleared.values():
        cache.cache_clear()


map_limit.forget.append(clear_all_caches)
