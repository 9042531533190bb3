"""`jit`: trace once per signature, compile once, then one dictionary look-up a call."""

from __future__ import annotations

import functools
import threading
import time
import types
import weakref
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from sagax._src import config, trees, xla
from sagax._src.api import arguments, compilations, donation
from sagax._src.control import identity
from sagax._src.control.call import call
from sagax._src.control.words import check_results, kind_of, structure_error
from sagax._src.core import dims, dtypes
from sagax._src.core.avals import intern_aval
from sagax._src.core.jaxpr import ClosedJaxpr, DebugInfo, eval_jaxpr
from sagax._src.core.stage import stage
from sagax._src.core.trace import Tracer, axis_environment, evaluation, state
from sagax._src.core.value import aval_of, is_operand
from sagax._src.diagnostics.boundary import (
    function_code,
    function_name,
    passed,
    running,
    tracing,
)
from sagax._src.diagnostics.errors import (
    ArgumentError,
    ArgumentValueError,
    NonFiniteError,
    SagaxError,
)
from sagax._src.runtime import devices, nonfinite
from sagax._src.runtime.array import ConcreteArray, as_array
from sagax._src.runtime.compile import Compiled, Lowered, buffers_on, explained, placement
from sagax._src.runtime.key_reuse import watch

_flatten = trees.flatten
_thread = config.thread


class Traced:
    """A function traced for one signature: its jaxpr, and the structure of its result."""

    __slots__ = ("closed", "name", "out_tree")

    def __init__(self, closed: ClosedJaxpr, out_tree: Any, name: str) -> None:
        self.closed = closed
        self.out_tree = out_tree
        self.name = name

    @property
    def cacheable(self) -> bool:
        """Values of enclosing transformations belong to one call only."""
        return not any(isinstance(c, Tracer) for c in self.closed.consts)


class _Static:
    """A static argument in a cache key: equal only to values of the same type."""

    __slots__ = ("hash", "value")

    def __init__(self, value: Any, what: str, fun: Any) -> None:
        self.value = value
        try:
            self.hash = hash(value)
        except TypeError:
            raise ArgumentValueError(
                f"Non-hashable static arguments are used in a jit function: {what} of {function_name(fun)} is static, and a "
                f"value of type {type(value).__name__} cannot be hashed",
                function="jit",
                argument=what,
                got=kind_of(value),
                expected="a hashable value",
                fix="pass a tuple instead of a list"
                if isinstance(value, list)
                else "pass the array as an ordinary (traced) argument"
                if hasattr(value, "dtype")
                else "pass something hashable, such as a tuple or a frozen dataclass",
                about=((what,), function_name(fun)),
            ) from None

    def __hash__(self) -> int:
        return self.hash

    def __eq__(self, other: object) -> bool:
        if type(other) is not _Static or type(self.value) is not type(other.value):
            return False
        try:
            return bool(self.value == other.value)
        except Exception as error:
            raise ArgumentValueError(
                "static arguments should be comparable using __eq__: comparing two values of type "
                f"{type(self.value).__name__} raised {type(error).__name__}: {error}",
                function="jit",
                expected="values whose == gives True or False, such as tuples and frozen dataclasses",
                got=kind_of(self.value),
                fix="keep arrays out of static arguments",
            ) from error


class _Caches:
    """What is known of one function under one set of jit options; shared by equal jits of it."""

    __slots__ = ("calls", "lock", "traced", "__weakref__")

    def __init__(self) -> None:
        self.traced: dict[tuple, Traced] = {}
        self.calls: dict[tuple, Callable] = {}
        self.lock = threading.RLock()


_by_function: weakref.WeakKeyDictionary[Any, dict] = weakref.WeakKeyDictionary()
_by_meaning: OrderedDict[tuple, _Caches] = OrderedDict()
_MEANINGS = 256
_all: weakref.WeakSet[JitFunction] = weakref.WeakSet()
_shared_lock = threading.Lock()


def _caches_for(fun: Any, options: tuple) -> tuple[_Caches, tuple | None]:
    """The caches of a function, and what it means if functions of the same meaning share them."""
    if not isinstance(fun, (types.FunctionType, types.MethodType)):
        return _Caches(), None  # other callables may compare equal and yet compute differently
    meaning = identity.meaning(fun) if isinstance(fun, types.FunctionType) else None
    with _shared_lock:
        if meaning is None:
            return _by_function.setdefault(fun, {}).setdefault(options, _Caches()), None
        key = (meaning, options)
        found = _by_meaning.pop(key, None) or _Caches()
        _by_meaning[key] = found
        if len(_by_meaning) > _MEANINGS:
            _by_meaning.popitem(last=False)
        return found, meaning


def clear_caches() -> None:
    """Forget everything traced and compiled by jitted functions."""
    with _shared_lock:
        known = [c for by_options in _by_function.values() for c in by_options.values()]
        for caches in (*known, *_by_meaning.values()):
            caches.traced.clear()
            caches.calls.clear()
    for jitted in list(_all):
        jitted._calls.clear()
        jitted._traced.clear()


class JitFunction:
    """A function that is compiled when called. Made by `sagax.jit`."""

    _run_code: Any = None  # of what runs a compiled program, by which its errors are known

    def __init__(
        self,
        fun: Callable,
        *,
        static_argnums: Any,
        static_argnames: Any,
        donate_argnums: Any,
        donate_argnames: Any,
        keep_unused: bool,
        device: Any,
        inline: bool,
        in_shardings: Any = None,
        out_shardings: Any = None,
        compiler_options: Mapping[str, Any] | None = None,
    ) -> None:
        self._fun = fun
        self._options = _checked_options(compiler_options, "jit")
        self._static_nums, self._static_names = arguments.static_arguments(
            fun, static_argnums, static_argnames, "static"
        )
        self._donate_nums, self._donate_names = arguments.static_arguments(
            fun, donate_argnums, donate_argnames, "donate"
        )
        self._check_overlap()
        self._keep_unused = keep_unused
        self._device = device
        self._inline = inline
        self._plain = not (self._static_nums or self._static_names)
        self._donates = bool(self._donate_nums or self._donate_names)
        options = (
            self._static_nums,
            self._static_names,
            self._donate_nums,
            self._donate_names,
            keep_unused,
            device,
            inline,
            tuple(sorted(self._options.items())),
        )
        self._caches, self._meaning = _caches_for(fun, options)
        # what this object has used so far; the shared caches are asked when something is missing here
        self._calls: dict[tuple, Callable] = {}
        self._traced: dict[tuple, Traced] = {}
        _all.add(self)
        self._name = getattr(fun, "__name__", None) or function_name(fun)
        self._boundary = tracing(fun, "jit")
        self._running = running(fun, "jit")
        functools.update_wrapper(self, fun, updated=())

    def _check_overlap(self) -> None:
        both = set(self._static_nums) & set(self._donate_nums)
        if both:
            names = arguments.positional_names(self._fun, max(both) + 1)
            raise ArgumentValueError(
                function=f"jit of {function_name(self._fun)}",
                argument="donate_argnums (or donate_argnames)",
                got=", ".join([names[i] for i in sorted(both)]),
                expected="arguments that are not static: a static argument has no memory to donate",
            )

    # methods: `jit` on a function in a class body binds like a function
    def __get__(self, instance: Any, owner: Any = None) -> Any:
        return self if instance is None else types.MethodType(self, instance)

    def __repr__(self) -> str:
        return f"<jitted function {function_name(self._fun)}>"

    # -- calling ------------------------------------------------------------------------------------

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        try:
            if self._plain and state.trace is evaluation:
                # Arrays as they are, the commonest call, need no flattening.
                key: list = [_thread.settings]
                bufs = []
                if not kwargs:
                    for x in args:
                        if type(x) is not ConcreteArray or x._device is not None:
                            break
                        key.append(x.aval)
                        bufs.append(x.buffer() if x._buffer is None else x._buffer)
                    else:
                        entry = self._calls.get(tuple(key))
                        return entry(bufs, args) if entry else self._general(args, kwargs)
                try:
                    leaves, tree = _flatten((args, kwargs))
                except (ValueError, TypeError, SystemError):
                    return self._general(args, kwargs)  # which says what is wrong
                key = [tree, _thread.settings]
                bufs = []
                for x in leaves:
                    if type(x) is not ConcreteArray or x._device is not None:
                        break
                    key.append(x.aval)
                    bufs.append(x.buffer() if x._buffer is None else x._buffer)
                else:
                    entry = self._calls.get(tuple(key))
                    if entry is not None:
                        return entry(bufs, leaves)
            return self._general(args, kwargs)
        except Exception as error:
            ran = isinstance(error, NonFiniteError) or passed(error, self._run_code)
            (self._running if ran else self._boundary).leave(error)
            raise

    def _general(self, args: tuple, kwargs: dict) -> Any:
        """Any call: static arguments, operands that are no arrays yet, a trace at work, first calls."""
        if _thread.settings.disable_jit:
            return self._fun(*args, **kwargs)
        statics, dyn_args, dyn_kwargs = self._split(args, kwargs)
        leaves, tree = self._flatten(args, dyn_args, dyn_kwargs)
        if not all(type(x) is ConcreteArray or is_operand(x) for x in leaves):
            arguments.check_operands(leaves, lambda: self._paths(args, kwargs), "jit", self._fun)
        if state.trace is not evaluation:
            traced = self._trace(statics, tree, [aval_of(x) for x in leaves], args, kwargs)
            return self._apply(traced, leaves)
        arrays = [as_array(x) for x in leaves]
        committed = placement(arrays)
        # plain calls on uncommitted arrays use the keys of the quick ways above
        marks = [statics, committed] if statics or committed is not None else []
        flat = not marks and not kwargs and all(type(x) is ConcreteArray for x in args)
        key = (*(() if flat else (tree,)), _thread.settings, *marks, *[a.aval for a in arrays])
        entry = self._calls.get(key)
        if entry is None:
            caches = self._shared_caches()
            entry = caches.calls.get(key)
            if entry is not None:
                self._calls[key] = entry
        if entry is None:
            # Without the lock: tracing runs the user's code, which may wait for another thread.
            traced = self._trace(statics, tree, [a.aval for a in arrays], args, kwargs)
            with caches.lock:
                entry = caches.calls.get(key)
                if entry is None:
                    entry = self._entry(traced, committed, tree, statics, args, kwargs)
                    caches.calls[key] = entry
            self._calls[key] = entry
        return entry([a.buffer() for a in arrays], arrays)

    def _paths(self, args: tuple, kwargs: dict) -> list[str]:
        """Names of the leaves of the dynamic arguments."""
        _, dyn_args, dyn_kwargs = self._split(args, kwargs)
        return [
            trees.argument_path(name, path)
            for name, arg in self._named(args, dyn_args, dyn_kwargs)
            for path in trees.key_paths(arg)
        ]

    def _named(self, args: tuple, dyn_args: tuple, dyn_kwargs: dict) -> list[tuple[str, Any]]:
        """The dynamic arguments of a call with the positional arguments `args`, with their names."""
        names = arguments.positional_names(self._fun, len(args))
        n = len(args)
        static = {k % n if k < 0 else k for k in self._static_nums if -n <= k < n}
        kept = [name for i, name in enumerate(names) if i not in static]
        return [*zip(kept, dyn_args, strict=False), *sorted(dyn_kwargs.items())]

    def _flatten(self, args: tuple, dyn_args: tuple, dyn_kwargs: dict) -> tuple[list, Any]:
        """Leaves and structure of the dynamic arguments of a call with positional arguments `args`."""
        return arguments.flatten_named(
            f"jit of {self._name}",
            (dyn_args, dyn_kwargs),
            lambda: self._named(args, dyn_args, dyn_kwargs),
        )

    def _split(self, args: tuple, kwargs: dict) -> tuple[tuple, tuple, dict]:
        """Static arguments, as a key; the other positional and keyword arguments."""
        if self._plain:
            return (), args, kwargs
        n = len(args)
        positions = sorted({k % n if k < 0 else k for k in self._static_nums if -n <= k < n})
        names = [k for k in self._static_names if k in kwargs]
        parts = arguments.positional_names(self._fun, n)
        statics = (
            *[(i, _Static(args[i], parts[i], self._fun)) for i in positions],
            *[(k, _Static(kwargs[k], k, self._fun)) for k in sorted(names)],
        )
        dynamic = tuple([a for i, a in enumerate(args) if i not in positions])
        return statics, dynamic, {k: v for k, v in kwargs.items() if k not in names}

    def _merge(self, statics: tuple, dynamic: Sequence[Any], kwargs: dict) -> tuple[list, dict]:
        """The reverse of `_split`."""
        args = list(dynamic)
        kwargs = dict(kwargs)
        for where, static in statics:
            if isinstance(where, int):
                args.insert(where, static.value)
            else:
                kwargs[where] = static.value
        return args, kwargs

    # -- tracing ------------------------------------------------------------------------------------

    def _trace(
        self, statics: tuple, tree: Any, avals: Sequence[Any], args: tuple, kwargs: dict
    ) -> Traced:
        """The function traced for this signature, from the cache or afresh."""
        key = (statics, tree, tuple(avals), _thread.settings.key, axis_environment())
        found = self._traced.get(key)
        if found is None:
            caches = self._shared_caches()
            found = caches.traced.get(key)
            if found is None:
                found = self._trace_now(statics, tree, avals, args, kwargs)
            if found.cacheable:
                caches.traced[key] = self._traced[key] = found
        return found

    def _shared_caches(self) -> _Caches:
        """The caches shared with functions of the same meaning, as long as this one still has it."""
        if self._meaning is not None and identity.meaning(self._fun) != self._meaning:
            # a variable it closes over was rebound since
            self._caches, self._meaning = _Caches(), None
        return self._caches

    def _trace_now(
        self, statics: tuple, tree: Any, avals: Sequence[Any], args: tuple, kwargs: dict
    ) -> Traced:
        out_tree = None
        fun = self._fun

        def flat(*leaves: Any) -> list:
            nonlocal out_tree
            dyn_args, dyn_kwargs = tree.unflatten(leaves)
            full_args, full_kwargs = self._merge(statics, dyn_args, dyn_kwargs)
            result = fun(*full_args, **full_kwargs)
            outs, out_tree = trees.flatten_argument(self._name, "result", result)
            fix = "return arrays; compute other results outside of the jitted function"
            check_results(outs, result, "jit", fun, fix)
            return outs

        info = DebugInfo(self._name, self._paths(args, kwargs), (), "jit", function_code(fun))
        jaxpr, consts = stage(flat, avals, info)
        return Traced(ClosedJaxpr(jaxpr, consts), out_tree, self._name)

    def _apply(self, traced: Traced, leaves: Sequence[Any]) -> Any:
        """The traced function as part of what is being traced."""
        closed = traced.closed
        if self._inline:
            outs = eval_jaxpr(closed.jaxpr, closed.consts, *leaves)
        else:
            outs = call(closed, leaves, name=traced.name)
        return traced.out_tree.unflatten(outs)

    # -- compiling ----------------------------------------------------------------------------------

    def _donated(self, tree: Any, args: tuple, kwargs: dict) -> list[int]:
        """Positions, among the flat dynamic operands, of what may be overwritten."""
        if not self._donates:
            return []
        n = len(args)
        nums = {k % n if k < 0 else k for k in self._donate_nums if -n <= k < n}
        static = {k % n if k < 0 else k for k in self._static_nums if -n <= k < n}
        marks: list[bool] = []
        for i, a in enumerate(args):
            if i not in static:
                marks.extend([i in nums] * len(trees.leaves(a)))
        for name in sorted(kwargs):
            if name not in self._static_names:
                marks.extend([name in self._donate_names] * len(trees.leaves(kwargs[name])))
        return [i for i, m in enumerate(marks) if m]

    def _lowered(self, traced: Traced, device: Any, donated: Sequence[int]) -> tuple[Lowered, list]:
        closed = traced.closed
        consts = [as_array(c) for c in closed.consts]
        jaxpr = closed.jaxpr.replace(
            constvars=[], invars=[*closed.jaxpr.constvars, *closed.jaxpr.invars]
        )
        platform = devices.backend_of(device).platform
        lowered = Lowered(
            jaxpr,
            platform,
            traced.name,
            keep_unused=self._keep_unused,
            donated=[i + len(consts) for i in donated],
        )
        return lowered, consts

    def _place(self, committed: Any) -> Any:
        if self._device is not None:
            return self._device
        return committed if committed is not None else devices.default_device()

    def _entry(
        self, traced: Traced, committed: Any, tree: Any, statics: tuple, args: tuple, kwargs: dict
    ) -> Callable:
        """A function from buffers (and their arrays) to the result, with all decisions taken."""
        device = self._place(committed)
        donated = self._donated(tree, args, kwargs)
        if donated:
            donation.check(self._fun, traced.closed, donated)
        start = time.perf_counter()
        lowered, consts = self._lowered(traced, device, donated)
        compiled = Compiled(lowered, device, self._options)
        compilations.record(
            self._fun,
            traced.closed.jaxpr.debug_info.arg_names,
            traced.closed.in_avals,
            [(where, static.value) for where, static in statics],
            time.perf_counter() - start,
        )
        run, kept, avals = compiled.run, compiled.kept, compiled.out_avals
        unflatten = traced.out_tree.unflatten
        target = committed if committed is not None else self._device
        const_buffers = buffers_on(consts, device)
        single = len(avals) == 1 and trees.treedef_is_leaf(traced.out_tree)
        several_devices = len(devices.backend_of(device).local_devices) > 1

        def inputs(bufs: list, arrays: list) -> list:
            if several_devices:
                bufs = buffers_on(arrays, device)
            bufs = const_buffers + bufs
            return bufs if kept is None else [bufs[i] for i in kept]

        direct = not const_buffers and kept is None and not several_devices

        def call_compiled(bufs: list, arrays: list) -> Any:
            try:
                outs = run(bufs if direct else inputs(bufs, arrays))
            except (xla.EngineError, xla.DeletedBufferError) as error:
                raise explained(error, arrays) from None
            if single:
                return ConcreteArray(avals[0], None, outs[0], target)
            return unflatten(
                [ConcreteArray(a, None, b, target) for a, b in zip(avals, outs, strict=True)]
            )

        JitFunction._run_code = call_compiled.__code__
        if not donated:
            return self._watched(call_compiled, traced, consts)

        def call_and_give(bufs: list, arrays: list) -> Any:
            result = call_compiled(bufs, arrays)
            for i in donated:
                arrays[i].delete()
            return result

        return self._watched(call_and_give, traced, consts)

    @staticmethod
    def _watched(entry: Callable, traced: Traced, consts: Sequence[Any]) -> Callable:
        if nonfinite.wanted():
            entry = nonfinite.watched_call(entry, traced.closed.jaxpr, consts, trees.leaves)
        if _thread.settings.debug_key_reuse:
            return watch.watched_call(entry, traced.closed.jaxpr, consts)
        return entry

    # -- stages ---------------------------------------------------------------------------------------

    def _stage(self, args: tuple, kwargs: dict) -> tuple[Traced, Any, tuple, list]:
        with self._boundary:
            statics, dyn_args, dyn_kwargs = self._split(args, kwargs)
            leaves, tree = self._flatten(args, dyn_args, dyn_kwargs)
            arguments.check_operands(
                [0 if is_shaped(x) else x for x in leaves],
                lambda: self._paths(args, kwargs),
                "jit",
                self._fun,
            )
            avals = [shaped(x) for x in leaves]
            return self._trace(statics, tree, avals, args, kwargs), tree, statics, leaves

    def trace(self, *args: Any, **kwargs: Any) -> TracedStage:
        """The function traced for these arguments (arrays or `ShapeDtypeStruct`s): `.jaxpr`, `.lower()`."""
        traced, tree, statics, _ = self._stage(args, kwargs)
        return TracedStage(self, traced, tree, args, kwargs)

    def lower(self, *args: Any, **kwargs: Any) -> LoweredStage:
        """The program for these arguments before XLA compiles it: `.as_text()`, `.compile()`."""
        return self.trace(*args, **kwargs).lower()

    def eval_shape(self, *args: Any, **kwargs: Any) -> Any:
        """Shapes and dtypes of the result, without computing it."""
        traced, *_ = self._stage(args, kwargs)
        return traced.out_tree.unflatten([ShapeDtypeStruct.of(a) for a in traced.closed.out_avals])

    def clear_cache(self) -> None:
        """Forget what was traced and compiled for this function."""
        for known in (self._caches.traced, self._caches.calls, self._traced, self._calls):
            known.clear()

    def _cache_size(self) -> int:
        return len(self._caches.calls)


def _checked_options(options: Any, function: str) -> dict[str, Any]:
    """Options of the compiler as a dict."""
    if options is None:
        return {}
    if not isinstance(options, Mapping) or not all(isinstance(name, str) for name in options):
        raise ArgumentError(
            function=function,
            argument="compiler_options",
            got=kind_of(options),
            expected="a dict from names of options to their values",
            fix='write it so: compiler_options={"xla_cpu_enable_fast_math": True}',
        )
    return dict(options)


def is_shaped(x: Any) -> bool:
    """Whether `x` has a type: an operand, or something like a `ShapeDtypeStruct`."""
    if is_operand(x):
        return True
    return (
        hasattr(x, "shape") and hasattr(x, "dtype") and not isinstance(x, np.ndarray | np.generic)
    )


def shaped(x: Any) -> Any:
    """The aval of an operand or of a `ShapeDtypeStruct`-like object."""
    if isinstance(x, ShapeDtypeStruct):
        return x.aval
    return aval_of(x) if is_operand(x) else ShapeDtypeStruct(x.shape, x.dtype).aval


class ShapeDtypeStruct:
    """Shape and dtype without contents, for `eval_shape`, `jit(f).lower` and export.

    >>> import sagax
    >>> sagax.ShapeDtypeStruct((2, 3), "float32")
    ShapeDtypeStruct(shape=(2, 3), dtype=float32)
    """

    __slots__ = ("aval", "sharding")

    def __init__(
        self, shape: Any, dtype: Any, *, sharding: Any = None, weak_type: bool = False, **_: Any
    ) -> None:
        if dtype is None:
            raise ArgumentValueError(
                function="ShapeDtypeStruct", argument="dtype", got=None, expected="a dtype"
            )
        self.aval = _struct_aval(shape, dtype, weak_type)
        self.sharding = sharding

    @classmethod
    def of(cls, aval: Any) -> ShapeDtypeStruct:
        """The struct of an aval."""
        return cls(aval.shape, aval.dtype, weak_type=aval.weak_type)

    shape = property(lambda self: self.aval.shape)
    dtype = property(lambda self: self.aval.dtype)
    ndim = property(lambda self: self.aval.ndim)
    size = property(lambda self: self.aval.size)
    weak_type = property(lambda self: self.aval.weak_type)

    def update(self, **changes: Any) -> ShapeDtypeStruct:
        """The same struct with some fields replaced."""
        fields = {
            "shape": self.shape,
            "dtype": self.dtype,
            "sharding": self.sharding,
            "weak_type": self.weak_type,
        }
        return ShapeDtypeStruct(**(fields | changes))

    def __len__(self) -> int:
        return len(self.aval)

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, ShapeDtypeStruct)
            and self.aval is other.aval
            and self.sharding == other.sharding
        )

    def __hash__(self) -> int:
        return hash((self.aval.shape, self.aval.dtype, self.aval.weak_type))

    def __repr__(self) -> str:
        weak = ", weak_type=True" if self.weak_type else ""
        name = getattr(self.dtype, "name", self.dtype)
        return f"ShapeDtypeStruct(shape={self.shape}, dtype={name}{weak})"


ShapeDtypeStruct.__module__ = "sagax"  # its public home: what messages show and pickles refer to


def _struct_aval(shape: Any, dtype: Any, weak_type: bool) -> Any:
    if isinstance(shape, (tuple, list)) and None in shape:
        raise ArgumentValueError(
            "`shape` cannot have None in it",
            function="ShapeDtypeStruct",
            argument="shape",
            got=shape,
            expected="integers",
            fix="for a size that is not known yet use export.symbolic_shape",
        )
    try:
        argument = "dtype"
        canonical = dtypes.canonicalize(dtype, _thread.settings.x64)
        argument = "shape"
        return intern_aval(dims.canonical_shape(shape), canonical, weak_type, None)
    except SagaxError as error:
        raise error.attach(function="ShapeDtypeStruct", argument=argument) from None


class TracedStage:
    """A traced function: `.jaxpr` and the next stage, `.lower()`."""

    __slots__ = ("_args", "_jitted", "_kwargs", "_traced", "_tree")

    def __init__(
        self, jitted: JitFunction, traced: Traced, tree: Any, args: tuple, kwargs: dict
    ) -> None:
        self._jitted, self._traced, self._tree, self._args, self._kwargs = (
            jitted,
            traced,
            tree,
            args,
            kwargs,
        )

    @property
    def jaxpr(self) -> ClosedJaxpr:
        return self._traced.closed

    @property
    def fun_name(self) -> str:
        return self._traced.name

    @property
    def out_info(self) -> Any:
        """Shapes and dtypes of the result."""
        return self._traced.out_tree.unflatten(
            [ShapeDtypeStruct.of(a) for a in self._traced.closed.out_avals]
        )

    def lower(self, *, lowering_platforms: Any = None) -> LoweredStage:
        """The program as StableHLO."""
        device = self._jitted._place(None)
        donated = self._jitted._donated(self._tree, self._args, self._kwargs)
        lowered, consts = self._jitted._lowered(self._traced, device, donated)
        return LoweredStage(self, lowered, consts, device)


class LoweredStage:
    """A lowered function: `.as_text()` and the next stage, `.compile()`."""

    __slots__ = ("_consts", "_device", "_lowered", "_stage")

    def __init__(self, stage: TracedStage, lowered: Lowered, consts: list, device: Any) -> None:
        self._stage, self._lowered, self._consts, self._device = stage, lowered, consts, device

    def as_text(self, dialect: str | None = None, *, debug_info: bool = False) -> str:
        """The program as text: StableHLO, or unoptimised HLO with `dialect="hlo"`."""
        if dialect in (None, "stablehlo"):
            return xla.format_module(self._lowered.text, locations=debug_info)
        if dialect == "hlo":
            return xla.module_to_hlo_text(self._lowered.text)
        raise ArgumentValueError(
            function="as_text",
            argument="dialect",
            got=repr(dialect),
            expected="'stablehlo' or 'hlo'",
        )

    @property
    def out_info(self) -> Any:
        return self._stage.out_info

    @property
    def out_tree(self) -> Any:
        return self._stage._traced.out_tree

    @property
    def in_tree(self) -> Any:
        return self._stage._tree

    def cost_analysis(self) -> Any:
        """XLA's estimate of the cost before optimisation."""
        client = devices.backend_of(self._device).client
        return xla.module_cost_analysis(client, self._lowered.text)

    def compile(self, compiler_options: Mapping[str, Any] | None = None) -> CompiledStage:
        """The program compiled for the device, with options of XLA by name."""
        jitted = self._stage._jitted
        options = {**jitted._options, **_checked_options(compiler_options, "compile")}
        return CompiledStage(self, Compiled(self._lowered, self._device, options))


class CompiledStage:
    """A compiled function, to be called with arguments of the signature it was compiled for."""

    __slots__ = ("_compiled", "_lowered")

    def __init__(self, lowered: LoweredStage, compiled: Compiled) -> None:
        self._lowered, self._compiled = lowered, compiled

    def as_text(self) -> str:
        """The optimised HLO."""
        return self._compiled.executable.hlo_text()

    def cost_analysis(self) -> Any:
        return self._compiled.executable.cost_analysis()

    def memory_analysis(self) -> Any:
        return self._compiled.executable.memory_analysis()

    @property
    def out_tree(self) -> Any:
        return self._lowered.out_tree

    @property
    def in_tree(self) -> Any:
        return self._lowered.in_tree

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        stage = self._lowered._stage
        jitted = stage._jitted
        if any(isinstance(x, Tracer) for x in trees.leaves((args, kwargs))):
            raise ArgumentError(
                "Cannot apply transformations to a function lowered and compiled for a particular signature",
                function=f"the compiled {jitted._name}",
                fix="transform the jitted function instead, and lower the result",
            )
        leaves, tree = jitted._flatten(stage._args, args, kwargs)
        if tree != stage._tree:
            raise self._other_structure(args, kwargs)
        names = jitted._paths(stage._args, stage._kwargs)
        arguments.check_operands(leaves, lambda: names, "jit", jitted._fun)
        arrays = [as_array(x) for x in leaves]
        for x, v, name in zip(arrays, stage._traced.closed.jaxpr.invars, names, strict=True):
            if x.aval.shape != v.aval.shape or x.aval.dtype != v.aval.dtype:
                raise ArgumentError(
                    "the function was compiled for an argument of another type",
                    function=f"the compiled {jitted._name}",
                    argument=name,
                    expected=v.aval,
                    got=x.aval,
                    fix="convert it, or call the jitted function, which compiles for each type",
                )
        compiled = self._compiled
        bufs = buffers_on([*self._lowered._consts, *arrays], compiled.device)
        if compiled.kept is not None:
            bufs = [bufs[i] for i in compiled.kept]
        try:
            outs = compiled.run(bufs)
        except (xla.EngineError, xla.DeletedBufferError) as error:
            raise explained(error, arrays) from None
        for i in self._compiled.lowered.donated:
            if i >= len(self._lowered._consts):
                arrays[i - len(self._lowered._consts)].delete()
        return self.out_tree.unflatten(
            [
                ConcreteArray(a, None, b, placement(arrays))
                for a, b in zip(compiled.out_avals, outs, strict=True)
            ]
        )

    def _other_structure(self, args: tuple, kwargs: dict) -> SagaxError:
        stage = self._lowered._stage
        of_args, of_kwargs = trees.treedef_children(stage._tree)
        found = trees.structure_mismatch(of_args, args, "args when compiled", "args")
        found += trees.structure_mismatch(of_kwargs, kwargs, "kwargs when compiled", "kwargs")
        fix = "pass positional and keyword arguments as they were passed to lower"
        if not stage._jitted._plain:
            fix += "; static arguments are part of the compiled program and are left out"
        return structure_error(
            f"the compiled {stage._jitted._name}",
            "the structure of the arguments differs from the one the function was compiled for",
            found,
            fix,
        )


def jit(
    fun: Callable | None = None,
    *,
    in_shardings: Any = None,
    out_shardings: Any = None,
    static_argnums: Any = None,
    static_argnames: Any = None,
    donate_argnums: Any = None,
    donate_argnames: Any = None,
    keep_unused: bool = False,
    device: Any = None,
    backend: str | None = None,
    inline: bool = False,
    compiler_options: Any = None,
) -> Any:
    """`fun`, compiled with XLA as one program when it is called.

    It is traced once for each signature: structure, shapes and dtypes of its arguments, and values of
    static ones. Arrays that it reads from outside become hidden arguments. Use it as a function or as a
    decorator, with options too.

    Args:
      static_argnums, static_argnames: arguments that are constants of the program; hashable. A new
        value means a new compilation.
      donate_argnums, donate_argnames: arguments whose memory results may take; they are deleted.
      keep_unused: pass arguments to the program even if it does not use them.
      device, backend: where to run (default: where the arguments are committed).
      inline: inside another traced function, insert the operations instead of a call.
      compiler_options: options of XLA by name, such as {"xla_cpu_enable_fast_math": True}.

    Raises:
      TypeError: an argument is neither array, number nor pytree of them.
      ValueError: a static argument cannot be hashed.

    >>> import sagax
    >>> @sagax.jit
    ... def double(x):
    ...     return x * 2
    >>> double(3.0)
    Array(6., dtype=float32, weak_type=True)
    """
    options: dict[str, Any] = {
        "static_argnums": static_argnums,
        "static_argnames": static_argnames,
        "donate_argnums": donate_argnums,
        "donate_argnames": donate_argnames,
        "keep_unused": keep_unused,
        "inline": inline,
        "device": device if backend is None else devices.backend(backend).local_devices[0],
        "in_shardings": in_shardings,
        "out_shardings": out_shardings,
        "compiler_options": compiler_options,
    }
    if fun is None:
        return functools.partial(
            jit, **{k: v for k, v in options.items() if k != "device"}, device=options["device"]
        )
    arguments.check_callable(fun, "jit")
    if device is not None and not hasattr(device, "client"):
        raise ArgumentError(
            function="jit",
            argument="device",
            got=kind_of(device),
            expected="a device from sagax.devices(), or None",
        )
    return JitFunction(fun, **options)


__all__ = ["JitFunction", "ShapeDtypeStruct", "clear_caches", "jit", "shaped"]
