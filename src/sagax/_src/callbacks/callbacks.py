"""Call Python functions from running executables: pure_callback, io_callback, debug.callback."""

from __future__ import annotations

import contextvars
import functools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from sagax._src import config, source_stacks, trees
from sagax._src.argument_checks import checks
from sagax._src.callbacks import active_calls, vmap_methods
from sagax._src.core import dims, dtypes
from sagax._src.core.avals import ShapedArray, intern_aval
from sagax._src.core.effects import Effect
from sagax._src.core.families import OPAQUE
from sagax._src.core.primitive import Primitive
from sagax._src.core.trace import begin_evaluation, current, evaluation, state
from sagax._src.core.value import is_operand, not_an_array, sockets
from sagax._src.diagnostics.boundary import function_name
from sagax._src.diagnostics.errors import (
    ArgumentError,
    ArgumentValueError,
    DtypeError,
    SagaxError,
    ShapeError,
    TreeError,
)
from sagax._src.higher_order.loops import one_by_one
from sagax._src.primitives.random_bits import random_wrap_p
from sagax._src.primitives.unsupported import UnsupportedError
from sagax._src.transforms.batch import move_batch_dims
from sagax._src.xla import EngineError

_io = frozenset({Effect("io")})
_ordered_io = frozenset({Effect("ordered io", ordered=True)})
_debug = frozenset({Effect("debug")})
_ordered_debug = frozenset({Effect("ordered debug", ordered=True)})


class CallbackTreeError(TreeError, EngineError):
    """A callback returned another pytree than it was declared to."""


class CallbackShapeError(ShapeError, EngineError):
    """A callback returned an array of another shape than it was declared to."""


class CallbackDtypeError(DtypeError, EngineError):
    """A callback returned an array of another dtype than it was declared to."""


class Callback:
    """Wrap a Python function as a function of flat arrays, with flat NumPy arrays as results.

    `api_name` is the function of sagax that the user called, for errors. Callbacks are equal if their
    functions and the structures of arguments and results are.
    """

    __slots__ = ("api_name", "function", "in_tree", "out_tree", "stack")

    def __init__(self, api_name: str, function: Callable, in_tree: Any, out_tree: Any) -> None:
        self.api_name = api_name
        self.function = function
        self.in_tree = in_tree
        self.out_tree = out_tree
        self.stack = source_stacks.stack()  # the user's call, for errors at run time

    def __repr__(self) -> str:
        return function_name(self.function)

    def _key(self) -> tuple:
        return self.api_name, self.function, self.in_tree, self.out_tree

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Callback) and self._key() == other._key()

    def __hash__(self) -> int:
        return hash(self._key())

    def __call__(self, leaves: Sequence[Any], expected: Sequence[ShapedArray]) -> list[np.ndarray]:
        """Call the function and return its results, which must have the expected types."""
        args, kwargs = self.in_tree.unflatten(leaves)
        result = self.function(*args, **kwargs)
        if self.out_tree is None:  # called for its effects
            return []
        try:
            return self._check_results(result, expected)
        except SagaxError as error:
            raise error.attach(traceback=self.stack) from None

    def _check_results(self, result: Any, expected: Sequence[ShapedArray]) -> list[np.ndarray]:
        found, tree = trees.flatten(result)
        if tree != self.out_tree:
            raise CallbackTreeError(
                "the result has another structure than result_shape_dtypes",
                function=f"{self.api_name} of {self}",
                got=tree,
                expected=self.out_tree,
            )
        return [self._check(x, a, i, result) for i, (x, a) in enumerate(zip(found, expected))]

    def _check(self, x: Any, aval: ShapedArray, i: int, result: Any) -> np.ndarray:
        value = np.asarray(x)
        path = trees.argument_path("result", trees.key_paths(result)[i])
        if value.shape != aval.shape:
            raise CallbackShapeError(
                "the result has another shape than result_shape_dtypes says",
                function=f"{self.api_name} of {self}",
                argument=path,
                got=value.shape,
                expected=aval.shape,
            )
        if value.dtype != aval.dtype:
            found = _result_dtype(x, value, aval.dtype)
            if found != aval.dtype:
                raise CallbackDtypeError(
                    "the result has another dtype than result_shape_dtypes says",
                    function=f"{self.api_name} of {self}",
                    argument=path,
                    got=str(found),
                    expected=str(aval.dtype),
                    fix=f"return it as np.asarray(x, {str(aval.dtype)!r}), or declare {found}",
                )
            try:
                dtypes.check_integers(value, aval.dtype)
            except dtypes.IntegerOverflow as error:
                raise error.attach(function=f"{self.api_name} of {self}", argument=path) from None
            value = value.astype(aval.dtype)
        return value


def _result_dtype(x: Any, value: np.ndarray, declared: Any) -> Any:
    """Return the dtype of a callback's result `x`: the declared one for weak Python numbers."""
    x64 = config.current().x64
    if not isinstance(x, (bool, int, float, complex)) or not dtypes.is_numeric_dtype(declared):
        return dtypes.canonicalize(value.dtype, x64)  # 64 bits become 32 where x64 is off
    return dtypes.promote((dtypes.dtype_and_weak(x, x64), (declared, False)), x64)[0]


def _host_function(
    callback: Callback, in_avals: Sequence[Any], out_avals: Sequence[Any], platform: str
) -> Callable[..., tuple]:
    """Return the function that the engine calls with NumPy arrays, in any thread."""
    # another thread would have the settings of the process; a calling GPU is blocked meanwhile
    options: dict[str, Any] = {} if platform == "cpu" else {"default_device": "cpu"}
    settings = config.context(enable_x64=config.current().x64, **options)

    def call(*values: np.ndarray) -> tuple:
        # In a context of its own, which a signal handler that raises leaves as a whole; the exit of a
        # `with` block could be interrupted before it has set anything back.
        return contextvars.copy_context().run(call_here, values)

    def call_here(values: tuple[np.ndarray, ...]) -> tuple:
        begin_evaluation()
        settings.__enter__()

        def run() -> tuple:
            arrays = [_as_operand(v, a) for v, a in zip(values, in_avals, strict=True)]
            return tuple(callback(arrays, out_avals))

        return active_calls.call_tracked(callback, run)

    call.__name__ = function_name(callback.function)
    return call


def _as_operand(value: np.ndarray, aval: Any) -> Any:
    """Wrap a NumPy array of the engine as an array of sagax."""
    x = sockets.concrete(value)
    return random_wrap_p.bind(x, impl=aval.dtype.impl) if dtypes.is_extended(aval.dtype) else x


def _call_eagerly(
    *args: Any, callback: Callback, result_avals: tuple[ShapedArray, ...] = (), **_: Any
) -> list[Any]:
    """Call the function on concrete operands, without the engine."""
    with current(evaluation):
        found = callback([sockets.concrete(x) for x in args], result_avals)
    return [sockets.concrete(x) for x in found]


def _lower_call(
    b: Any,
    args: Sequence[Any],
    callback: Callback,
    outs: Sequence[Any],
    *,
    effect: bool,
    partitioned: bool = False,
) -> list:
    avals = [x.aval for x in args]
    if not all(dims.is_static(a.shape) for a in (*avals, *outs)):
        raise UnsupportedError(
            "a call of a Python function needs sizes that are numbers",
            function=callback.api_name,
            got=" and ".join(str(a) for a in (*avals, *outs)),
        )
    call = _host_function(callback, avals, outs, b.module.platform)
    return b.callback(call, args, outs, has_side_effect=effect, partitioned=partitioned)


# --- pure_callback --------------------------------------------------------------------------------------

pure_callback_p = Primitive(
    "pure_callback", family=OPAQUE, multiple_results=True, is_higher_order=True
)


@pure_callback_p.abstract
def _(*avals: Any, result_avals: tuple, **_: Any) -> list:
    return list(result_avals)


@pure_callback_p.jvp
def _(primals: Sequence[Any], tangents: Sequence[Any], **params: Any) -> tuple:
    return vmap_methods.bind_without_jvp(
        pure_callback_p,
        primals,
        tangents,
        params,
        "Pure callbacks do not support JVP",
        function=f"pure_callback of {params['callback']}",
        fix="say its derivative: put the call into a function with custom_jvp or custom_vjp",
    )


@pure_callback_p.batch
def _(axis: Any, args: Sequence[Any], in_dims: Sequence[Any], **params: Any) -> tuple:
    return vmap_methods.batch_call(
        pure_callback_p,
        axis.size,
        args,
        in_dims,
        params,
        unrolled=state.trace is evaluation,
        function=f"pure_callback of {params['callback']}",
    )


@pure_callback_p.lower
def _(b: Any, *args: Any, callback: Callback, result_avals: tuple, **_: Any) -> list:
    return _lower_call(b, args, callback, result_avals, effect=False)


pure_callback_p.impl = _call_eagerly


def pure_callback(
    callback: Callable,
    result_shape_dtypes: Any,
    *args: Any,
    sharding: Any = None,
    vmap_method: str | None = None,
    **kwargs: Any,
) -> Any:
    """Call a pure Python function on the host from the running executable, and return its result.

    The function is assumed to be pure: it may be called more or less often than written, and not at all
    if its result is unused.

    Args:
      callback: takes arrays; returns NumPy arrays (or values that convert to them) that match
        `result_shape_dtypes`.
      result_shape_dtypes: a pytree of `ShapeDtypeStruct`s, or of other values with shape and dtype.
      args, kwargs: pytrees of arrays and numbers.
      sharding: accepted for one device, where it has no effect.
      vmap_method: the rule for `vmap`. 'sequential': one call for each example; 'sequential_unrolled': the
        same, without a loop; 'broadcast_all': one call whose operands and results all have one more
        leading dimension; 'expand_dims': the same, but unmapped operands have size 1 there; None: an
        error.

    Raises what the function raises; ShapeError, DtypeError or TreeError if its result does not fit;
    ArgumentValueError when it is differentiated (use custom_jvp or custom_vjp).

    >>> @sagax.jit
    ... def f(x):
    ...     return sagax.pure_callback(np.sort, sagax.ShapeDtypeStruct(x.shape, x.dtype), x)
    >>> f(snp.array([3.0, 1.0, 2.0]))
    Array([1., 2., 3.], dtype=float32)
    """
    vmap_methods.check_method("pure_callback", vmap_method)
    leaves, call, avals, tree = _prepare_call(
        "pure_callback", callback, args, kwargs, result_shape_dtypes
    )
    outs = pure_callback_p.bind(
        *leaves, callback=call, result_avals=avals, sharding=sharding, vmap_method=vmap_method
    )
    return tree.unflatten(outs)


def _prepare_call(
    api_name: str, function: Any, args: tuple, kwargs: dict, results: Any
) -> tuple[list, Callback, tuple, Any]:
    """Flatten the operands of a call; return them, the callback, its result types and structure."""
    checks.callable(api_name, "callback", function, "a function of arrays")
    leaves, in_tree = trees.flatten((args, kwargs))
    for i, x in enumerate(leaves):
        if not is_operand(x):
            kind, *path = trees.key_paths((args, kwargs))[i]
            name = ("args", "kwargs")[kind.idx]
            raise not_an_array(x).attach(
                function=api_name, argument=trees.argument_path(name, path)
            )
    found, out_tree = trees.flatten(results)
    avals = tuple(_result_aval(api_name, r) for r in found)
    return leaves, Callback(api_name, function, in_tree, out_tree), avals, out_tree


def _result_aval(api_name: str, result: Any) -> ShapedArray:
    if not (hasattr(result, "shape") and hasattr(result, "dtype")):
        raise ArgumentError(
            function=api_name,
            argument="result_shape_dtypes",
            got=result,
            expected="a pytree of ShapeDtypeStructs, or of other values with shape and dtype",
        )
    if dtypes.is_extended(result.dtype):
        raise DtypeError(
            function=api_name,
            argument="result_shape_dtypes",
            got=result.dtype,
            expected="a dtype of numbers",
            fix="return the numbers of the keys, and make keys of them with random.wrap_key_data",
        )
    dtype = dtypes.canonicalize(np.dtype(result.dtype), config.current().x64)
    if dtype != result.dtype:
        raise ArgumentValueError(
            "result_shape_dtypes cannot specify 64-bit types when x64 is off",
            function=api_name,
            argument="result_shape_dtypes",
            got=result,
            expected=dtypes.name(dtype),
        )
    return intern_aval(tuple(result.shape), dtype, False, None)


# --- io_callback ----------------------------------------------------------------------------------------

io_callback_p = Primitive("io_callback", family=OPAQUE, multiple_results=True, is_higher_order=True)


@io_callback_p.abstract
def _(*avals: Any, result_avals: tuple, **_: Any) -> list:
    return list(result_avals)


@io_callback_p.effect
def _(*, ordered: bool, **_: Any) -> frozenset:
    return _ordered_io if ordered else _io


@io_callback_p.jvp
def _(primals: Sequence[Any], tangents: Sequence[Any], **params: Any) -> tuple:
    return vmap_methods.bind_without_jvp(
        io_callback_p,
        primals,
        tangents,
        params,
        "IO callbacks do not support JVP",
        function=f"io_callback of {params['callback']}",
        fix="pass the operands through stop_gradient, or say the derivative with custom_jvp or custom_vjp",
    )


@io_callback_p.batch
def _(axis: Any, args: Sequence[Any], in_dims: Sequence[Any], **params: Any) -> tuple:
    if params["ordered"]:
        raise ArgumentValueError(
            "Cannot `vmap` ordered IO callback",
            function=f"io_callback of {params['callback']}",
            fix="pass ordered=False, or call it in a loop (lax.map) over the examples",
        )
    outs = one_by_one(
        lambda *xs: io_callback_p.bind(*xs, **params),
        axis.size,
        move_batch_dims(args, in_dims),
        in_dims,
        unrolled=state.trace is evaluation,
    )
    return outs, [0] * len(outs)


@io_callback_p.lower
def _(b: Any, *args: Any, callback: Callback, result_avals: tuple, **_: Any) -> list:
    return _lower_call(b, args, callback, result_avals, effect=True)


io_callback_p.impl = _call_eagerly


def io_callback(
    callback: Callable,
    result_shape_dtypes: Any,
    *args: Any,
    sharding: Any = None,
    ordered: bool = False,
    **kwargs: Any,
) -> Any:
    """Call a Python function with side effects on the host, and return its result.

    It is called exactly as often as the call executes. With `ordered`, calls keep their order, within and
    across executables. `result_shape_dtypes` is a pytree of `ShapeDtypeStruct`s (or None); the function
    returns arrays of those types.

    Raises what the function raises; ShapeError, DtypeError or TreeError if its result does not fit;
    ArgumentValueError when it is differentiated, or mapped although ordered.

    >>> from sagax.experimental import io_callback
    >>> seen = []
    >>> @sagax.jit
    ... def f(x):
    ...     io_callback(lambda x: seen.append(float(x)), None, x, ordered=True)
    ...     return 2 * x
    >>> f(1.0), f(2.0), seen
    (Array(2., dtype=float32, weak_type=True), Array(4., dtype=float32, weak_type=True), [1.0, 2.0])
    """
    leaves, call, avals, tree = _prepare_call(
        "io_callback", callback, args, kwargs, result_shape_dtypes
    )
    outs = io_callback_p.bind(
        *leaves, callback=call, result_avals=avals, sharding=sharding, ordered=bool(ordered)
    )
    return tree.unflatten(outs)


# --- debug.callback -------------------------------------------------------------------------------------

debug_callback_p = Primitive(
    "debug_callback", family=OPAQUE, multiple_results=True, is_higher_order=True
)


@debug_callback_p.abstract
def _(*avals: Any, **_: Any) -> list:
    return []


@debug_callback_p.effect
def _(*, ordered: bool, **_: Any) -> frozenset:
    return _ordered_debug if ordered else _debug


@debug_callback_p.jvp
def _(primals: Sequence[Any], tangents: Sequence[Any], **params: Any) -> tuple:
    return debug_callback_p.bind(*primals, **params), []


@debug_callback_p.batch
def _(axis: Any, args: Sequence[Any], in_dims: Sequence[Any], **params: Any) -> tuple:
    one_by_one(
        lambda *xs: debug_callback_p.bind(*xs, **params),
        axis.size,
        move_batch_dims(args, in_dims),
        in_dims,
        unrolled=state.trace is evaluation,
    )
    return [], []


@debug_callback_p.lower
def _(b: Any, *args: Any, callback: Callback, partitioned: bool, **_: Any) -> list:
    return _lower_call(b, args, callback, [], effect=True, partitioned=bool(partitioned))


debug_callback_p.impl = _call_eagerly


def debug_callback(
    callback: Callable | None = None,
    *args: Any,
    ordered: bool = False,
    partitioned: bool = False,
    **kwargs: Any,
) -> Any:
    """Call a Python function with values at run time, for its side effects.

    Under `vmap` it is called for each example in turn, under differentiation with the values of the
    forward pass. Calls in one executable keep their order, with `ordered` also those across executables.
    With `partitioned`, each of several devices calls with its own shard. Arguments that are no arrays (dtypes,
    texts) are passed on. `debug.callback(ordered=True)(f, x)` is another way to write it.

    >>> @sagax.jit
    ... def f(x):
    ...     sagax.debug.callback(lambda x: print("x is", x), x)
    ...     return x + 1
    >>> f(1)
    x is 1
    Array(2, dtype=int32, weak_type=True)
    """
    if callback is None and not args:
        return functools.partial(debug_callback, ordered=ordered, partitioned=partitioned, **kwargs)
    checks.callable("debug.callback", "callback", callback, "a function of arrays")
    given, tree = trees.flatten((args, kwargs))
    if not all(map(is_operand, given)):
        callback, args, kwargs = (
            _with_static_values(callback, given, tree),
            tuple(filter(is_operand, given)),
            {},
        )
    leaves, call, _, _ = _prepare_call("debug.callback", callback, args, kwargs, ())
    call.out_tree = None
    debug_callback_p.bind(*leaves, callback=call, ordered=bool(ordered), partitioned=partitioned)


def _with_static_values(callback: Any, leaves: Sequence[Any], tree: Any) -> Callable:
    """Make a function of the arrays among `leaves`, which passes all leaves to `callback`."""

    def call(*arrays: Any) -> None:
        remaining = iter(arrays)
        args, kwargs = tree.unflatten([next(remaining) if is_operand(x) else x for x in leaves])
        callback(*args, **kwargs)

    return call


# --- ordered calls --------------------------------------------------------------------------------------

# A call with a token, a number that only calls pass on: the data flow orders them. Lowering replaces the
# other primitives by this one.
ordered_callback_p = Primitive(
    "callback_in_turn", family=OPAQUE, multiple_results=True, is_higher_order=True
)
TOKEN = intern_aval((), np.dtype(np.uint32), False, None)


@ordered_callback_p.abstract
def _(token: Any, *avals: Any, result_avals: tuple, **_: Any) -> list:
    return [TOKEN, *result_avals]


@ordered_callback_p.effect
def _(*, effects: frozenset, **_: Any) -> frozenset:
    return effects


@ordered_callback_p.lower
def _(
    b: Any,
    token: Any,
    *args: Any,
    callback: Callback,
    result_avals: tuple,
    effects: frozenset,
    partitioned: bool,
) -> list:
    avals = [x.aval for x in args]
    if partitioned and any(e.ordered for e in effects) and len(b.module.devices) > 1:
        raise ArgumentValueError(
            "calls of several devices have no order",
            function=callback.api_name,
            argument="ordered",
            got=True,
            fix="pass partitioned=False, or ordered=False",
        )
    for a in (*avals, *result_avals):
        if not dims.is_static(a.shape):
            return [token, *_lower_call(b, args, callback, result_avals, effect=True)]
    inner = _host_function(callback, avals, result_avals, b.module.platform)

    def call(token: np.ndarray, *values: np.ndarray) -> tuple:
        return (token, *inner(*values))

    call.__name__ = inner.__name__
    return b.callback(
        call,
        [token, *args],
        [TOKEN, *result_avals],
        has_side_effect=bool(effects),
        partitioned=partitioned,
    )


def ordered_call_params(params: dict, effects: frozenset) -> dict:
    """Convert the parameters of one of the primitives above to those of `ordered_callback_p`."""
    return {
        "callback": params["callback"],
        "result_avals": params.get("result_avals", ()),
        "partitioned": bool(params.get("partitioned")),
        "effects": effects,
    }
