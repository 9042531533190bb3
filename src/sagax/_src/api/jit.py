"""Implement `jit`: trace once per signature, compile once, then one cache lookup per call."""

from __future__ import annotations

import contextlib
import copy
import functools
import sys
import time
import types
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from sagax._src import config, fork_locks, trees
from sagax._src.api import arguments, call_operands
from sagax._src.api.call_operands import (
    EQUAL_BY_VALUE,
    LEAVES,
    SimpleStatic,
    from_host,
    give_back,
    static_part,
)
from sagax._src.api.dict_arguments import leaves_of_dicts, note_dicts
from sagax._src.api.shape_dtype_struct import ShapeDtypeStruct, is_shaped, shaped
from sagax._src.argument_checks.functions import check_results, kind_of
from sagax._src.core.dispatch_keys import call_key, trace_key
from sagax._src.core.high_types import value_types
from sagax._src.core.jaxpr import ClosedJaxpr, DebugInfo, eval_jaxpr
from sagax._src.core.references import Ref, takes_references
from sagax._src.core.staging import stage
from sagax._src.core.trace import belongs_to_trace, current_trace, evaluation, state
from sagax._src.core.value import aval_of, is_operand
from sagax._src.diagnostics import events
from sagax._src.diagnostics.boundary import function_code, function_name, running, tracing
from sagax._src.diagnostics.errors import ArgumentError, ArgumentValueError, NonFiniteError
from sagax._src.diagnostics.function_wrappers import copy_attributes
from sagax._src.function_analysis import identity
from sagax._src.higher_order.call import call
from sagax._src.higher_order.float0_leaves import (
    hidden_in_arguments,
    is_no_tangent,
    without_no_tangents,
)
from sagax._src.lazy_import import lazy_imports
from sagax._src.runtime import call_paths, devices, progress, transfer_guard, working_memory
from sagax._src.runtime.array import ConcreteArray, as_array
from sagax._src.runtime.compile import Compiled, Lowered, placement, platform_of, sharded_entry
from sagax._src.runtime.eager import remember
from sagax._src.runtime.placements import Placement, in_context
from sagax._src.weak_tables import WeakBag, WeakKeyTable
from sagax._src.xla import Device

if TYPE_CHECKING or lazy_imports():
    from sagax._src.api import (
        compile_log,
        donation,
        guards,
        jit_high,
        jit_references,
        jit_shardings,
        stages,
        unused_structs,
    )
    from sagax._src.function_analysis import free_variables
    from sagax._src.runtime import debug_nans
    from sagax._src.runtime.key_reuse import watch


_flatten = trees.engine_flatten
_thread = config.thread
_own, _process = config.own, config.process


class Traced:
    """A function traced for one signature: its jaxpr, and the structure of its result."""

    __slots__ = ("closed", "guard", "high", "name", "out_tree", "seconds", "without_structs")

    def __init__(
        self, closed: ClosedJaxpr, out_tree: Any, name: str, guard: guards.Guard | None = None
    ) -> None:
        self.closed = closed
        self.out_tree = out_tree
        self.name = name
        self.guard = guard  # of the captured values
        self.high: tuple | None = None  # as a function on arrays, with types that libraries add
        self.without_structs: dict = {}  # by the positions of arguments without data
        self.seconds = 0.0  # duration of tracing

    @property
    def cacheable(self) -> bool:
        """Values of enclosing transformations belong to one call only."""
        return not any(belongs_to_trace(c) for c in self.closed.consts)


class _Caches:
    """Cache the traces and executables of one function under one set of jit options; equal jits share it."""

    __slots__ = ("calls", "lock", "traced", "__weakref__")

    def __init__(self) -> None:
        self.traced: dict[tuple, Traced] = {}
        self.calls: dict[tuple, tuple[Callable, guards.Guard | None]] = {}
        self.lock = fork_locks.reentrant_lock()


_by_function: WeakKeyTable[Any, dict] = WeakKeyTable()
_by_meaning: OrderedDict[tuple, _Caches] = OrderedDict()
_MEANINGS = 256
_TRACING = "/jax/core/compile/jaxpr_trace_duration"
_all: WeakBag[JitFunction] = WeakBag()
_shared_lock = fork_locks.lock()


def _caches_for(fun: Any, options: tuple) -> tuple[_Caches, tuple | None]:
    """Return the caches of a function, and its fingerprint if equivalent functions share them."""
    if not isinstance(fun, (types.FunctionType, types.MethodType)):
        return _Caches(), None  # other callables may compare equal and yet compute differently
    meaning = identity.function_key(fun) if isinstance(fun, types.FunctionType) else None
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
    """Clear all traces and executables of jitted functions, and return free memory to the system."""
    with _shared_lock:
        known = [c for by_options in _by_function.values() for c in by_options.values()]
        for caches in (*known, *_by_meaning.values(), *[jitted._caches for jitted in _all]):
            caches.traced.clear()
            caches.calls.clear()
    for jitted in _all:
        jitted._calls.clear()
        jitted._traced.clear()
        jitted._dicts.clear()
    call_operands.clear()
    working_memory.release()


def watch_calls(function: Callable[[JitFunction, tuple, dict], Any]) -> None:
    """Have `function(jitted, args, kwargs)` make each call, by `jitted._general(args, kwargs)`."""
    events.jit_called.function = function
    for jitted in _all:
        jitted._fast = False


class _Signature:
    """The signature of a jitted function, for `inspect.signature` with any options; the class has none."""

    def __get__(self, jitted: JitFunction | None, owner: type) -> Any:
        found = None if jitted is None else arguments.signature(jitted._fun)
        if found is None:
            raise AttributeError("__signature__")
        return found


class JitFunction:
    """A function that is compiled when called. Created by `sagax.jit`."""

    _given: Mapping[str, Any] = types.MappingProxyType({})  # the options, as they were given
    _unseen: frozenset[int] = frozenset()  # donated arguments that only the call holds

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
        stale: str | None = None,
        exact: bool | None = None,
        safe_where: bool | None = None,
        masks: str | None = None,
        reroll: str | None = None,
    ) -> None:
        self._fun = fun
        # the context of its options, in which it is traced and compiled
        self._context = config.of_function(exact, safe_where, masks, reroll)
        self._options: dict[str, Any] = {}
        if compiler_options is not None:
            self._options = stages.checked_options(compiler_options, "jit")
        self._static_nums, self._static_names = arguments.static_arguments(
            fun, static_argnums, static_argnames, "static"
        )
        self._donate_nums, self._donate_names = arguments.static_arguments(
            fun, donate_argnums, donate_argnames, "donate"
        )
        self._sorted_static_names = sorted(self._static_names)
        self._check_overlap()
        self._keep_unused = keep_unused
        self._device = device
        self._inline = inline
        self._stale = stale
        self._warned: set[str] = set()  # changed variables that were warned of
        self._requested_shardings = None
        if in_shardings is not None or out_shardings is not None:
            name = function_name(fun)
            self._requested_shardings = jit_shardings.RequestedShardings(
                name, in_shardings, out_shardings
            )
        self._all_dynamic = not (self._static_nums or self._static_names)
        self._fast = events.jit_called.function is None  # may use the fast paths
        self._donates = bool(self._donate_nums or self._donate_names)
        # static positions and names of arguments, by their number
        self._static_positions: dict[int, tuple[tuple[int, ...], tuple[int, ...]]] = {}
        options = (
            self._static_nums,
            self._static_names,
            self._donate_nums,
            self._donate_names,
            keep_unused,
            device,
            inline,
            stale,
            getattr(self._context, "changes", ()),
            tuple(sorted(self._options.items())),
            None if self._requested_shardings is None else self._requested_shardings.key,
        )
        self._caches, self._fingerprint = _caches_for(fun, options)
        self._calls: dict[tuple, Callable] = {}  # of the shared caches, which fill it on a miss
        self._traced: dict[tuple, Traced] = {}
        self._dicts: dict[tuple, tuple] = {}
        _all.add(self)
        self._name = getattr(fun, "__name__", None) or function_name(fun)
        self._boundary = tracing(fun, "jit")
        self._running = running(fun, "jit")
        copy_attributes(self, fun)
        if events.jit_created.function is not None:
            events.jit_created.function(self)

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

    __signature__ = _Signature()

    def __repr__(self) -> str:
        return f"<jitted function {function_name(self._fun)}>"

    def __copy__(self) -> JitFunction:
        copied = object.__new__(type(self))
        copied.__dict__.update(self.__dict__)
        return copied

    def __reduce__(self) -> Any:
        # By reference where a decorated function is found under its name; but not in the script, whose names other
        # processes lack: cloudpickle copies its functions.
        module, name = getattr(self, "__module__", ""), getattr(self, "__qualname__", "")
        if module != "__main__":
            found: Any = sys.modules.get(module)
            for part in name.split("."):
                found = getattr(found, part, None)
            if found is self:
                return name
        return functools.partial(jit, **self._given), (self._fun,)

    def __deepcopy__(self, memo: dict) -> JitFunction:
        # `deepcopy` copies no functions, so executables and locks are shared too.
        copied = copy.copy(self)
        copied._calls, copied._traced, copied._dicts, copied._warned = {}, {}, {}, set()
        _all.add(copied)
        return copied

    # -- calling ------------------------------------------------------------------------------------

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        try:
            if self._fast and (current_trace() is None or state.trace is evaluation):
                # The commonest call, with arrays only, needs no flattening. `device`: the one
                # that they are committed to.
                settings = _own() or _process.settings
                if self._all_dynamic and not kwargs:
                    if len(args) == 1 and type(x := args[0]) is ConcreteArray:
                        device = x._device
                        if device is None:
                            entry = self._calls.get((settings, x.aval))
                        elif type(device) is Device and not self._requested_shardings:
                            entry = self._calls.get((settings, x.aval, device))
                        else:
                            return self._general(args, kwargs)
                        if entry is None:
                            return self._general(args, kwargs)
                        return entry([x.buffer() if x._buffer is None else x._buffer], args)
                    device = None
                    key: list = [settings]
                    bufs = []
                    for x in args:
                        if type(x) is not ConcreteArray:
                            break
                        where = x._device
                        if where is not None and where is not device:
                            if device or type(where) is not Device or self._requested_shardings:
                                return self._general(args, kwargs)
                            device = where
                        key.append(x.aval)
                        bufs.append(x.buffer() if x._buffer is None else x._buffer)
                    else:
                        if device is not None:
                            key.append(device)
                        entry = self._calls.get(tuple(key))
                        return entry(bufs, args) if entry else self._general(args, kwargs)
                statics: tuple = ()
                dyn_args, dyn_kwargs, device = args, kwargs, None
                if not self._all_dynamic:
                    if settings.disable_jit:
                        return self._general(args, kwargs)
                    statics, dyn_args, dyn_kwargs = self._split(args, kwargs)
                found = None
                leaves: Sequence[Any] = dyn_args
                key = [settings]
                if dyn_kwargs or not LEAVES.issuperset(map(type, dyn_args)):
                    if self._dicts and not kwargs:
                        found = leaves_of_dicts(args, self._dicts)
                    if found is None:
                        try:
                            found = _flatten((dyn_args, dyn_kwargs))
                        except Exception:  # `_general` raises the right message
                            trees.restore_recursion_depth((dyn_args, dyn_kwargs))
                            return self._general(args, kwargs)
                    leaves, tree = found
                    key = [tree, settings]
                arrays, bufs = [], []
                lent: list | None = None if self._donates else []
                for x in leaves:
                    if type(x) is not ConcreteArray:
                        x = from_host(x, settings, lent)
                        if x is None:
                            return self._general(args, kwargs)
                    where = x._device
                    if where is not None and where is not device:
                        if device or type(where) is not Device or self._requested_shardings:
                            return self._general(args, kwargs)
                        device = where
                    key.append(x.aval)
                    arrays.append(x)
                    bufs.append(x.buffer() if x._buffer is None else x._buffer)
                if device is not None:
                    key.append(device)
                entry = self._calls.get((*key, *statics) if statics else tuple(key))
                if entry is not None:
                    result = entry(bufs, arrays)
                    if lent:
                        give_back(lent, result)
                    return result
            elif events.jit_called.function is not None:
                return events.jit_called.function(self, args, kwargs)
            return self._general(args, kwargs)
        except Exception as error:
            ran = isinstance(error, NonFiniteError) or call_paths.ran(error)
            (self._running if ran else self._boundary).leave(error)
            raise

    def _general(self, args: tuple, kwargs: dict) -> Any:
        """Make any call: static arguments, other operands than arrays, enclosing traces, first calls."""
        if _thread.settings.disable_jit:
            return self._fun(*args, **kwargs)
        statics, dyn_args, dyn_kwargs = self._split(args, kwargs)
        leaves, tree = self._flatten(args, dyn_args, dyn_kwargs)
        references = False
        if not all(type(x) is ConcreteArray or is_operand(x) for x in leaves):
            if any(map(is_no_tangent, leaves)):
                return self._general(*hidden_in_arguments(args, kwargs))
            if any(isinstance(x, ShapeDtypeStruct) for x in leaves):
                return unused_structs.call(self, jit, statics, leaves, tree, args, kwargs)
            arguments.check_operands(leaves, lambda: self._paths(args, kwargs), "jit", self._fun)
            references = any(type(x) is Ref for x in leaves)
        if state.trace is not evaluation:
            if self._requested_shardings is not None:
                requested = self._requested_shardings.of_arguments(tree, dyn_args, dyn_kwargs)
                leaves = jit_shardings.constrained(leaves, requested)
            traced = self._trace(statics, tree, [aval_of(x) for x in leaves], args, kwargs)
            return self._apply(traced, leaves)
        if self._requested_shardings is not None:
            requested = self._requested_shardings.of_arguments(tree, dyn_args, dyn_kwargs)
            leaves = self._requested_shardings.put_arguments(
                requested, leaves, lambda: self._paths(args, kwargs)
            )
        if any(type(x) in value_types for x in leaves):
            traced = self._trace(statics, tree, [aval_of(x) for x in leaves], args, kwargs)
            return jit_high.call(self, traced, leaves)
        if _thread.settings.transfer_guard_host_to_device is not None:
            for x in leaves:
                if isinstance(x, (bool, int, float, complex, np.generic)):
                    transfer_guard.check_to_device(x, explicit=False)
        arrays: list[Any] = [x if type(x) is Ref else as_array(x) for x in leaves]
        committed = self._operand_placement(arrays, tree, args, kwargs)
        # eager calls on arrays of one device, or uncommitted ones, share the keys of the fast paths above
        flat = not dyn_kwargs and LEAVES.issuperset(map(type, dyn_args))
        key = call_key([a.aval for a in arrays], committed, statics, None if flat else tree)
        entry = self._calls.get(key)
        if entry is None:
            caches = self._valid_caches()
            new_entry = caches.calls.get(key)
            if new_entry is None:
                with progress.line("", self._name):  # one delay for tracing, lowering and compiling
                    # Without the lock: tracing runs user code, which may wait for another thread.
                    traced = self._trace(statics, tree, [a.aval for a in arrays], args, kwargs)
                    with caches.lock:
                        new_entry = caches.calls.get(key)
                        if new_entry is None:
                            new_entry = (
                                self._entry(traced, committed, tree, statics, args, kwargs),
                                traced.guard,
                            )
                            remember(caches.calls, key, new_entry)
            entry = self._guarded(*new_entry, key, statics, tree, committed, args, kwargs)
            remember(self._calls, key, entry)
            if self._all_dynamic and not kwargs:
                note_dicts(args, leaves, tree, self._dicts)
        call_operands.note_types(leaves, _thread.settings)
        # an entry for references takes arrays
        no_buffers = references or type(committed) is Placement
        bufs = [] if no_buffers else [a.buffer() for a in arrays]
        return entry(bufs, arrays)

    def _operand_placement(
        self,
        operands: Sequence[Any],
        tree: Any,
        args: tuple,
        kwargs: dict,
        lowered: Traced | None = None,
    ) -> Any:
        """Return the placement (None, a device, or a `Placement`) of operands; described devices if only `lowered`."""

        def names() -> list[str]:
            return self._paths(args, kwargs)

        if self._requested_shardings is not None:
            _, dyn_args, dyn_kwargs = self._split(args, kwargs)
            requested = self._requested_shardings.of_arguments(tree, dyn_args, dyn_kwargs)
            operands = self._requested_shardings.attach(requested, operands, names)
        if lowered is not None:
            results = self._requested_results(lowered)
            operands = jit_shardings.with_devices(operands, results, lowered.closed.jaxpr)
        return in_context(placement(operands, names), len(operands))

    def _paths(self, args: tuple, kwargs: dict) -> list[str]:
        """Name the leaves of the dynamic arguments."""
        _, dyn_args, dyn_kwargs = self._split(args, kwargs)
        return [
            trees.argument_path(name, path)
            for name, arg in self._named(args, dyn_args, dyn_kwargs)
            for path in trees.key_paths(arg)
        ]

    def _named(self, args: tuple, dyn_args: tuple, dyn_kwargs: dict) -> list[tuple[str, Any]]:
        """Name the dynamic arguments of a call with the positional arguments `args`."""
        names = arguments.positional_names(self._fun, len(args))
        n = len(args)
        static = {k % n if k < 0 else k for k in self._static_nums if -n <= k < n}
        dynamic_names = [name for i, name in enumerate(names) if i not in static]
        return [*zip(dynamic_names, dyn_args, strict=False), *sorted(dyn_kwargs.items())]

    def _flatten(self, args: tuple, dyn_args: tuple, dyn_kwargs: dict) -> tuple[list, Any]:
        """Flatten the dynamic arguments of a call."""
        return arguments.flatten_call(
            f"jit of {self._name}",
            (dyn_args, dyn_kwargs),
            lambda: self._named(args, dyn_args, dyn_kwargs),
        )

    def _split(self, args: tuple, kwargs: dict) -> tuple[tuple, tuple, dict]:
        """Split the arguments into static ones, as a key, and the other positional and keyword arguments."""
        if self._all_dynamic:
            return (), args, kwargs
        n = len(args)
        split = self._static_positions.get(n)
        if split is None:
            static = {k % n if k < 0 else k for k in self._static_nums if -n <= k < n}
            dynamic = tuple([i for i in range(n) if i not in static])
            split = self._static_positions[n] = tuple(sorted(static)), dynamic
        positions, dynamic = split
        statics = []
        for i in positions:
            value = args[i]
            if (kind := type(value)) in EQUAL_BY_VALUE:
                statics.append((i, SimpleStatic((kind, value))))
            else:
                statics.append((i, static_part(value, i, n, self._fun)))
        if kwargs and self._static_names:
            rest = dict(kwargs)
            for name in self._sorted_static_names:
                if name in rest:
                    value = rest.pop(name)
                    if (kind := type(value)) in EQUAL_BY_VALUE:
                        statics.append((name, SimpleStatic((kind, value))))
                    else:
                        statics.append((name, static_part(value, name, n, self._fun)))
            kwargs = rest
        return tuple(statics), tuple([args[i] for i in dynamic]), kwargs

    def _merge(self, statics: tuple, dynamic: Sequence[Any], kwargs: dict) -> tuple[list, dict]:
        """Merge static and dynamic arguments: the inverse of `_split`."""
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
        """Trace the function for this signature, or take the trace from the cache."""
        mode = self._stale or _thread.settings.stale
        watched = mode != "ignore"
        key = trace_key(statics, tree, tuple(avals), watched)
        found = self._traced.get(key)
        caches = None
        if found is None:
            caches = self._valid_caches()
            found = caches.traced.get(key)
            if found is not None and found.guard is not None:
                own = guards.rebound(
                    found.guard, self._fun, self._known_parameters(statics, args, kwargs)
                )
                found = Traced(found.closed, found.out_tree, found.name, own)
        if found is not None and found.guard is not None:
            if not found.guard.holds():
                if mode == "retrace":
                    caches, found = self._valid_caches(), None
                else:
                    guards.react(found.guard, mode, self._warned)
            if found is not None:
                guards.reused(found.guard)
        if found is None:
            if watched:
                known = self._known_parameters(statics, args, kwargs)
                with guards.recording(self._fun, known) as recorded, self._stale_context():
                    found = self._trace_now(statics, tree, avals, args, kwargs)
                found.guard = recorded.guard
            else:
                found = self._trace_now(statics, tree, avals, args, kwargs)
        if caches is not None and found.cacheable:
            remember(caches.traced, key, remember(self._traced, key, found))
        return found

    def _known_parameters(self, statics: tuple, args: tuple, kwargs: dict) -> dict[str, Any]:
        """Collect the parameters known before tracing: static arguments, defaults, classes of objects."""
        names = arguments.positional_names(self._fun, len(args))
        sig = arguments.signature(self._fun)
        given = {*names, *kwargs}
        known = {
            p.name: p.default
            for p in (sig.parameters.values() if sig is not None else ())
            if p.default is not p.empty and p.name not in given
        }
        for name, arg in (*zip(names, args, strict=False), *kwargs.items()):
            instance = free_variables.instance_of(arg)
            if instance is not None:
                known[name] = instance
        for where, static in statics:
            known[names[where] if isinstance(where, int) else where] = static.value
        return known

    def _stale_context(self) -> contextlib.AbstractContextManager[None]:
        """Enter the settings under which functions are traced as a part of this one."""
        return config.with_option("stale", self._stale)

    def _guarded(
        self,
        entry: Callable,
        guard: guards.Guard | None,
        key: tuple,
        statics: tuple,
        tree: Any,
        committed: Any,
        args: tuple,
        kwargs: dict,
    ) -> Callable:
        """Wrap `entry` to check captured values, if there are any."""
        mode = self._stale or _thread.settings.stale
        if guard is None or mode == "ignore":
            return entry

        def retrace(arrays: list) -> tuple[Callable, guards.Guard | None]:
            listed, named = self._merge(statics, *tree.unflatten(arrays))
            full, avals = tuple(listed), [a.aval for a in arrays]
            traced = self._trace(statics, tree, avals, full, named)
            new_entry = self._entry(traced, committed, tree, statics, full, named), traced.guard
            remember(self._valid_caches().calls, key, new_entry)
            return new_entry

        own = guards.rebound(guard, self._fun, self._known_parameters(statics, args, kwargs))
        return guards.guarded(entry, own, mode, retrace, self._warned)

    def _valid_caches(self) -> _Caches:
        """Return the caches that equivalent functions share, as long as the fingerprint is still valid."""
        if self._fingerprint is not None and identity.function_key(self._fun) != self._fingerprint:
            # a free variable was rebound since
            self._caches, self._fingerprint = _Caches(), None
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
            outs, out_tree = without_no_tangents(outs, out_tree)
            fix = "return arrays; compute other results outside of the jitted function"
            check_results(outs, result, "jit", fun, fix)
            return outs

        info = DebugInfo(self._name, self._paths(args, kwargs), (), "jit", function_code(fun))
        timed = events.record_duration(_TRACING, fun_name=self._name)
        line = progress.line("tracing", self._name)
        start = time.perf_counter()
        with config.for_sub_jaxpr(), self._context, timed, line:
            jaxpr, consts = stage(flat, avals, info)
        found = Traced(ClosedJaxpr(jaxpr, consts), out_tree, self._name)
        found.seconds = time.perf_counter() - start
        if events.jit_traced.function is not None:
            events.jit_traced.function(self, found.closed)
        return found

    def _apply(self, traced: Traced, leaves: Sequence[Any]) -> Any:
        """Apply the traced function within an enclosing trace."""
        closed = traced.closed
        if takes_references(closed.jaxpr):
            jit_references.check_distinct(self._fun, closed, leaves)
        if self._inline:
            outs = eval_jaxpr(closed.jaxpr, closed.consts, *leaves)
        else:
            own = {} if self._context is config.unchanged else {"under": self._context}
            outs = call(closed, leaves, name=traced.name, **own)
        if self._requested_shardings is not None:
            requested = self._requested_shardings.of_results(traced.out_tree, closed.out_avals)
            outs = jit_shardings.constrained(outs, requested)
        return traced.out_tree.unflatten(outs)

    # -- compiling ----------------------------------------------------------------------------------

    def _donated(self, tree: Any, args: tuple, kwargs: dict) -> list[int]:
        """Return the positions of the donated leaves among the flat dynamic operands."""
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

    def _requested_results(self, traced: Traced) -> list:
        """Return the requested sharding (or None) of each result; none if no result has one."""
        if self._requested_shardings is None:
            return []
        return self._requested_shardings.of_results(traced.out_tree, traced.closed.out_avals)

    def _placement_of(
        self, traced: Traced, committed: Any, lowered: bool = False
    ) -> tuple[Any, list]:
        """Return the placement of the executable (a device or a `Placement`), and its result shardings."""
        closed = traced.closed
        requested = self._requested_results(traced)
        consts = [as_array(c, guarded=False) for c in closed.consts]
        target, results = jit_shardings.placement_and_results(
            closed.jaxpr, consts, committed, len(closed.in_avals), requested, lowered
        )
        return self._placement_or_default(target), results

    def _lowered(
        self,
        traced: Traced,
        platform: str,
        aliases: Mapping[int, int],
        target: Any = None,
        results: Sequence[Any] = (),
        more_platforms: Sequence[str] | None = None,
    ) -> tuple[Lowered, list]:
        jaxpr = traced.closed.jaxpr
        consts = [as_array(c, guarded=False) for c in traced.closed.consts]
        jaxpr = jaxpr.replace(constvars=[], invars=[*jaxpr.constvars, *jaxpr.invars])
        with self._context:
            lowered = Lowered(
                jaxpr,
                platform,
                traced.name,
                keep_unused=self._keep_unused,
                aliases={i + len(consts): out for i, out in aliases.items()},
                target=target,
                results=results,
                more_platforms=more_platforms,
            )
        return lowered, consts

    def _placement_or_default(self, committed: Any) -> Any:
        if self._device is not None:
            return self._device
        return committed if committed is not None else devices.default_device()

    def _entry(
        self, traced: Traced, committed: Any, tree: Any, statics: tuple, args: tuple, kwargs: dict
    ) -> Callable:
        """Build a function from buffers (and their arrays) to the result, with all decisions taken."""
        new_entry = self._compiled(traced, committed, tree, args, kwargs, statics)
        if events.jit_compiled.function is not None:
            events.jit_compiled.function(self, traced, tree, statics, args, kwargs)
        return new_entry

    def _compiled(
        self, traced: Traced, committed: Any, tree: Any, args: tuple, kwargs: dict, statics: tuple
    ) -> Callable:
        donated = self._donated(tree, args, kwargs)
        if takes_references(traced.closed.jaxpr):
            return self._entry_for_references(traced, donated)
        if value_types and jit_high.has_high(traced.closed.jaxpr):
            return lambda bufs, arrays: jit_high.call(self, traced, call_operands.outliving(arrays))
        device, results = self._placement_of(traced, committed)
        aliases: Mapping[int, int] = {}
        if donated:
            planned = donation.plan(traced.closed, donated)
            donation.warn_of_unusable(self._fun, traced.closed, traced.out_tree, planned)
            aliases = planned.aliases
        start = time.perf_counter()
        lowered, consts = self._lowered(traced, platform_of(device), aliases, device, results)
        lowering = time.perf_counter() - start
        compiled = Compiled(lowered, device, self._options)
        origin = compiled.origin
        counter = compile_log.record(
            self._fun,
            traced.closed.jaxpr.debug_info.arg_names,
            traced.closed.in_avals,
            [(where, static.value) for where, static in statics],
            compile_log.Seconds(traced.seconds, lowering, time.perf_counter() - start - lowering),
            jaxpr=traced.closed,
            loaded=origin.source == "loaded",
            why=origin.why,
        )
        traced.seconds = 0.0  # counted
        unflatten = traced.out_tree.unflatten
        target = self._device if self._device is not None else committed
        names, avals = traced.closed.jaxpr.debug_info.arg_names, traced.closed.in_avals
        if compiled.out_shardings is not None:
            entry = sharded_entry(compiled, consts, unflatten)
            if aliases:
                entry = donation.Donation(self._fun, names, aliases, avals).wrap_entry(entry)
            return self._watched(call_paths.noted(entry), traced, bool(aliases))
        single = len(compiled.out_avals) == 1 and trees.treedef_is_leaf(traced.out_tree)
        several = not devices.only_one()
        entry = call_paths.entry(compiled, consts, None if single else unflatten, target, several)
        entry = compile_log.timed(entry, counter, compiled.executable)
        seen = [i for i in aliases if i not in self._unseen]
        if not seen:
            return self._watched(entry, traced, bool(aliases))

        donating = donation.Donation(self._fun, names, seen, avals)
        hidden = [x.buffer() for x in consts]

        def call_and_give(bufs: list, arrays: Sequence[Any]) -> Any:
            if donating.scalars:
                arrays = donating.own_numbers(arrays, bufs)
            donating.check(bufs, hidden)
            result = entry(bufs, arrays)
            donating.mark_donated(arrays)
            return result

        return self._watched(call_and_give, traced, True)

    def on_arrays(self, traced: Traced) -> tuple[jit_high.OnArrays, JitFunction]:
        """Return a function on values of libraries' types as one on arrays, and that jitted."""
        if traced.high is None:
            traced.high = jit_high.on_arrays(self, traced, jit)
        return traced.high

    def on_values(self, traced: Traced, donated: Sequence[int]) -> tuple[Any, JitFunction]:
        """Return a function that takes references as one on values, and that jitted."""
        found = jit_references.OnValues(self._fun, traced.closed, traced.name)
        given = [len(found.consts) + i for i in donated]
        jitted = jit(
            found.function,
            donate_argnums=(*found.donated, *given),
            device=self._device,
            compiler_options=self._options,
        )
        jitted._context, jitted._unseen = self._context, frozenset(found.donated)
        return found, jitted

    def _entry_for_references(self, traced: Traced, donated: Sequence[int]) -> Callable:
        found, jitted = self.on_values(traced, donated)

        def call_on_values(bufs: list, arrays: list) -> Any:
            return traced.out_tree.unflatten(found.call(jitted, call_operands.outliving(arrays)))

        return call_on_values

    @staticmethod
    def _watched(entry: Callable, traced: Traced, donates: bool) -> Callable:
        if not (debug_nans.enabled() or _thread.settings.debug_key_reuse):
            return entry
        jaxpr = traced.closed.jaxpr
        consts = [as_array(c, guarded=False) for c in traced.closed.consts]
        if debug_nans.enabled():
            entry = debug_nans.watched_call(entry, jaxpr, consts, trees.leaves, donates)
        if _thread.settings.debug_key_reuse:
            return watch.watched_call(entry, jaxpr, consts)
        return entry

    # -- stages ---------------------------------------------------------------------------------------

    def _stage(self, args: tuple, kwargs: dict) -> tuple[Traced, Any, tuple, list]:
        with self._boundary:
            statics, dyn_args, dyn_kwargs = self._split(args, kwargs)
            leaves, tree = self._flatten(args, dyn_args, dyn_kwargs)
            if any(map(is_no_tangent, leaves)):
                return self._stage(*hidden_in_arguments(args, kwargs))
            arguments.check_operands(
                [0 if is_shaped(x) else x for x in leaves],
                lambda: self._paths(args, kwargs),
                "jit",
                self._fun,
            )
            avals = [shaped(x) for x in leaves]
            if self._requested_shardings is not None:
                requested = self._requested_shardings.of_arguments(tree, dyn_args, dyn_kwargs)
                avals = jit_shardings.typed_avals(avals, requested)
            return self._trace(statics, tree, avals, args, kwargs), tree, statics, leaves

    def trace(self, *args: Any, **kwargs: Any) -> stages.TracedStage:
        """Trace the function for arrays or `ShapeDtypeStruct`s; the result has `.jaxpr` and `.lower()`."""
        traced, tree, statics, _ = self._stage(args, kwargs)
        args, kwargs = hidden_in_arguments(args, kwargs)
        return stages.TracedStage(self, traced, tree, args, kwargs)

    def lower(self, *args: Any, **kwargs: Any) -> stages.LoweredStage:
        """Lower the function for these arguments: `.as_text()`, `.compile()`."""
        return self.trace(*args, **kwargs).lower()

    def eval_shape(self, *args: Any, **kwargs: Any) -> Any:
        """Return the shapes and dtypes of the result, without computing it."""
        traced, *_ = self._stage(args, kwargs)
        outs = traced.closed.out_avals
        return traced.out_tree.unflatten([a if a.is_high else ShapeDtypeStruct.of(a) for a in outs])

    def clear_cache(self) -> None:
        """Clear the traces and executables of this function."""
        for known in (self._caches.traced, self._caches.calls, self._traced, self._calls):
            known.clear()

    def _cache_size(self) -> int:
        return len(self._caches.calls)


PjitFunction = JitFunction  # jax's name of the type, which `sagax.as_jax` gives it


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
    stale: str | None = None,
    exact: bool | None = None,
    safe_where: bool | None = None,
    masks: str | None = None,
    reroll: str | None = None,
) -> Any:
    """Compile `fun` with XLA when it is called, once for each signature.

    A signature consists of the structure, shapes and dtypes of the arguments, and the values of
    static ones. Captured arrays become hidden arguments. Use it as a function or as a decorator,
    with options too.

    Args:
      in_shardings: the shardings of the positional arguments: a sharding, a `PartitionSpec`
        for the mesh in force, None (unchanged), or a pytree of these that is a prefix of the tuple of
        arguments. Uncommitted arguments are put there.
      out_shardings: the same for the result; None: chosen by the compiler.
      static_argnums, static_argnames: arguments that are compile-time constants; hashable. A new
        value means a new compilation.
      donate_argnums, donate_argnames: arguments whose memory results may take; they are deleted.
      keep_unused: pass arguments to the executable even if it does not use them.
      device, backend: where to run (default: where the arguments are committed).
      inline: inside another traced function, insert the operations instead of a call.
      compiler_options: options of XLA by name, such as {"xla_cpu_enable_fast_math": True}.
      stale: what happens when a captured value of `fun` (a global, a free variable,
        an attribute of a static argument) has changed: "warn", "retrace", "raise" or "ignore".
        Default: the option `stale`.
      exact: compute, bit for bit, what `fun` computes without jit: nothing is rewritten, contracted or
        computed in higher precision across its operations. Default: the option `exact`.
      safe_where: in derivatives, cotangents that a `where` masks stay zero. Default: the option.
      masks: "lazy": `x[mask]` of a traced mask is a view that can be reduced, and computed with element
        by element; "strict": it is an error. Default: the option `masks`.
      reroll: "auto": long repetitions in the jaxpr, as from an unrolled Python loop, are compiled
        as loops; "off": as they are. Default: the option `reroll`.

    Raises:
      TypeError: an argument is neither array, number nor pytree of them.
      ValueError: a static argument cannot be hashed.

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
        "stale": stale,
        "exact": exact,
        "safe_where": safe_where,
        "masks": masks,
        "reroll": reroll,
    }
    if stale is not None and stale not in guards.MODES:
        raise ArgumentValueError(
            function="jit",
            argument="stale",
            got=repr(stale),
            expected="'warn', 'retrace', 'raise' or 'ignore'; or None, for the option `stale`",
        )
    if fun is None:
        return functools.partial(
            jit, **{k: v for k, v in options.items() if k != "device"}, device=options["device"]
        )
    arguments.check_callable(fun, "jit")
    if device is not None and not hasattr(device, "client"):
        raise ArgumentError.about(
            "jit", "device", kind_of(device), "a device from sagax.devices(), or None"
        )
    jitted = JitFunction(fun, **options)
    jitted._given = {k: v for k, v in options.items() if v is not None}
    return jitted


__all__ = [
    "JitFunction",
    "ShapeDtypeStruct",
    "clear_caches",
    "is_shaped",
    "jit",
    "shaped",
    "watch_calls",
]
