"""Evaluate eager operations.

Each signature (primitive, avals, parameters, device) gets an entry once; a call looks it up and runs it. On
the CPU, an operation whose NumPy reference is bit-identical to XLA runs through NumPy while its operands
are small: no compilation, no transfer. The rest are executables.
"""

from __future__ import annotations

import contextvars
import functools
import operator
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from sagax._src import config, trees, tuning
from sagax._src.core import dims, dtypes
from sagax._src.core.dispatch_keys import call_key
from sagax._src.core.jaxpr import Jaxpr, Literal
from sagax._src.core.staging import hoist_constants, stage
from sagax._src.diagnostics.errors import SagaxError
from sagax._src.lazy_import import lazy_imports
from sagax._src.primitives.arithmetic import div_p, mul_p
from sagax._src.primitives.selection import select_n_p
from sagax._src.primitives.structural import reduce_sum_p
from sagax._src.runtime import call_paths, commit_sites, devices
from sagax._src.runtime.array import ConcreteArray, as_array, settled
from sagax._src.runtime.compile import Compiled, Lowered, placement, placement_of_jaxpr, platform_of
from sagax._src.runtime.compile import execute as run_compiled
from sagax._src.runtime.placements import Placement, are_replicated, in_context, of_replicated
from sagax._src.transforms.prune import prune_jaxpr
from sagax._src.weak_tables import WeakBag

if TYPE_CHECKING or lazy_imports():
    from sagax._src.runtime import arity_template, debug_nans
    from sagax._src.runtime.key_reuse import watch


_thread = config.thread
_own, _process = config.own, config.process
_ndarray = np.ndarray
_as_numpy = np.asarray
_BOOL = np.dtype(bool)
_SCALARS = frozenset((bool, int, float, complex, str))


def evaluate(primitive: Any, args: tuple, params: dict) -> Any:
    """Apply a primitive to concrete operands."""
    if primitive.impl is not None:
        out = primitive.impl(*args, **params)
        if debug_nans.enabled():
            debug_nans.look_at(
                primitive, args, params, out if primitive.multiple_results else [out]
            )
        return out
    key: list = [_own() or _process.settings]
    for a in args:
        if type(a) is not ConcreteArray or a._device is not None:
            return _evaluate_any(primitive, args, params)
        key.append(a.aval)
    if params:
        key.extend(params.items())
    try:
        entry = primitive.entries.get(tuple(key))
    except TypeError:  # unhashable parameters
        return _entry(primitive, args, params, None)(args)
    if entry is None:
        entry = _remember(primitive, tuple(key), _entry(primitive, args, params, None))
    return entry(args)


def _evaluate_any(primitive: Any, args: tuple, params: dict) -> Any:
    """Evaluate with operands that are no arrays yet, or are committed to a device."""
    arrays = tuple([a if type(a) is ConcreteArray else as_array(a) for a in args])
    try:
        committed = placement(arrays)
    except SagaxError as error:
        raise error.attach(function=primitive.name) from None
    key = call_key([a.aval for a in arrays], committed, params.items())
    try:
        entry = primitive.entries.get(key)
    except TypeError:
        return _entry(primitive, arrays, params, committed)(arrays)
    if entry is None:
        entry = _remember(primitive, key, _entry(primitive, arrays, params, committed))
    return entry(arrays)


_LIMIT = 4096  # signatures of one primitive, or of one jitted function
_used: WeakBag[Any] = WeakBag()
_tables: list[dict] = []


def new_table() -> dict:
    """Create a table from signatures to the results of `prepare`, which `clear` empties."""
    _tables.append({})
    return _tables[-1]


def remember(table: dict, signature: Any, entry: Any) -> Any:
    """Add an entry to a table, which is emptied first if it is full."""
    if len(table) >= _LIMIT:
        table.clear()
    table[signature] = entry
    return entry


def _remember(primitive: Any, key: tuple, entry: Callable) -> Callable:
    if not primitive.entries:
        _used.add(primitive)
    return remember(primitive.entries, key, entry)


def clear() -> None:
    """Clear all entries."""
    for table in [*_tables, *[primitive.entries for primitive in _used]]:
        table.clear()


def _entry(primitive: Any, arrays: Sequence, params: dict, committed: Any) -> Callable:
    committed = in_context(committed, len(arrays))
    in_avals = tuple([a.aval for a in arrays])
    out = primitive.abstract_eval(in_avals, params)
    run = _way_to_run(primitive, in_avals, params, out, committed)
    if committed is not None:
        run = _inheriting(run)
    if _thread.settings.debug_key_reuse:
        run = watch.watched_operation(run, primitive, params, in_avals, out)
    if debug_nans.enabled():
        run = debug_nans.watched_operation(run, primitive, params)
    return run


def _way_to_run(
    primitive: Any, in_avals: tuple, params: dict, out: Any, committed: Any
) -> Callable:
    device = committed if committed is not None else devices.default_device()
    exact = primitive.exact if isinstance(primitive.exact, bool) else primitive.exact(in_avals)
    on_host, where = _on_host(device, committed, in_avals[0] if in_avals else None)
    if exact and on_host:
        avals = (*in_avals, *(out if primitive.multiple_results else (out,)))
        small = max(a.size for a in avals) <= tuning.NUMPY_MAX_ELEMENTS
        if small and not any(dtypes.is_extended(a.dtype) for a in avals):
            return _staying(_host_entry(primitive, params, out, where, len(in_avals)), committed)
    return _device_entry(primitive, in_avals, params, device, committed)


def _staying(run: Callable, committed: Any) -> Callable:
    """Wrap `run` to commit uncommitted results to the default device that a user chose."""
    if committed is not None or _thread.settings.default_device is None:
        return run

    def run_there(arrays: Sequence) -> Any:
        found = run(arrays)
        for x in found if isinstance(found, list) else (found,):
            settled(x)
        return found

    return run_there


def _inheriting(run: Callable) -> Callable:
    """Wrap `run` to propagate commit sites from operands to results."""

    def run_bound(arrays: Sequence) -> Any:
        found = run(arrays)
        commit_sites.inherit(found if isinstance(found, list) else (found,), arrays)
        return found

    return run_bound


def _on_host(target: Any, committed: Any, first: Any) -> tuple[bool, Callable[[Any], Any]]:
    """Return whether NumPy may compute on this device, and what results are committed to, by their type.

    `first` is the type of the first operand.
    """
    if not isinstance(target, Placement):
        return target.platform == "cpu", lambda _: committed
    rank = -1 if first is None else first.ndim
    return are_replicated(target), functools.partial(of_replicated, target, rank)


# `_run_quietly(function, *args)`: without NumPy's warnings of behavior that IEEE arithmetic defines; much
# cheaper than `np.errstate`. RuntimeError if the context is in use, by another thread or around code that
# the garbage collector runs.
_run_quietly = contextvars.Context().run
_run_quietly(np.seterr, all="ignore")


def _quietly(function: Callable, *args: Any) -> Any:
    """Call `function(*args)` without NumPy's warnings, always."""
    try:
        return _run_quietly(function, *args)
    except RuntimeError:
        with np.errstate(all="ignore"):
            return function(*args)


def _host_entry(
    primitive: Any, params: dict, out: Any, where: Callable[[Any], Any], operands: int
) -> Callable:
    reference = primitive.reference_rule
    if params:
        reference = functools.partial(reference, **params)
    if primitive.multiple_results:
        types = [(a, where(a)) for a in out]

        def run_several(arrays: Sequence) -> list:
            results = _quietly(reference, *[a.host() for a in arrays])
            return [_array(r, *t) for r, t in zip(results, types, strict=True)]

        return run_several
    committed = where(out)
    if not 1 <= operands <= _MOST_NAMED:

        def run(arrays: Sequence) -> ConcreteArray:
            result = _quietly(reference, *[a.host() for a in arrays])
            return _array(result, out, committed)

        return run
    if operands == 3 and primitive is select_n_p:
        return _choosing(reference, out, committed, 1, 2)
    return _maker(operands)(reference, out, out.dtype, committed)


_MOST_NAMED = 8
_RUN = """
def make(reference, out, dtype, committed):
    def run(arrays):
        {operands}, = arrays
        {x} = {x}.host() if {x}._host is None else {x}._host
        try:
            result = _run_quietly(reference, {operands})
        except RuntimeError:
            result = _quietly(reference, {operands})
        if type(result) is not _ndarray or result.dtype is not dtype:
            result = _as_numpy(result, dtype)
        result.setflags(write=False)
        return ConcreteArray(out, result, None, committed)

    return run
"""


@functools.cache
def _maker(operands: int) -> Callable:
    return arity_template.filled_in(_RUN, operands, globals())


def _choosing(reference: Callable, out: Any, committed: Any, no: int, yes: int) -> Callable:
    """Build an entry for `select_n` of two cases, which cannot warn; `no` and `yes` are their operand indices."""
    # `where` without its search for other libraries' arrays, a quarter of its time for ten elements
    dtype, where = out.dtype, getattr(np.where, "_implementation", np.where)

    def run(arrays: Sequence) -> ConcreteArray:
        which, x, y = arrays[0], arrays[no], arrays[yes]
        which = which.host() if which._host is None else which._host
        x = x.host() if x._host is None else x._host
        y = y.host() if y._host is None else y._host
        result = where(which, y, x) if which.dtype is _BOOL else reference(which, x, y)
        if type(result) is not _ndarray or result.dtype is not dtype:
            result = _as_numpy(result, dtype)
        result.setflags(write=False)
        return ConcreteArray(out, result, None, committed)

    return run


def _array(host: Any, aval: Any, committed: Any) -> ConcreteArray:
    """Convert a NumPy result, which may be a scalar, to an array of type `aval`."""
    if type(host) is not _ndarray or host.dtype is not aval.dtype:
        host = _as_numpy(host, aval.dtype)
    host.setflags(write=False)
    return ConcreteArray(aval, host, None, committed)


def _device_entry(
    primitive: Any, in_avals: tuple, params: dict, device: Any, committed: Any
) -> Callable:
    several = primitive.multiple_results

    def fun(*xs: Any) -> list:
        out = primitive.bind(*xs, **params)
        return out if several else [out]

    jaxpr, consts = stage(fun, in_avals)
    if consts:
        raise AssertionError(f"{primitive.name} captured constants")
    run = _compiled_operation(jaxpr, device, committed, primitive.name)
    if several and len(jaxpr.outvars) == 1:
        return lambda arrays: [run(arrays)]
    return run


def _compiled_operation(
    jaxpr: Jaxpr,
    device: Any,
    committed: Any,
    name: str,
    unflatten: Callable[[list], Any] | None = None,
) -> Callable:
    """Compile an operation: return a function from arrays to an array, or to `unflatten` of several."""
    named = placement_of_jaxpr(jaxpr, committed, len(jaxpr.invars))
    if isinstance(named, Placement):
        device = named
    lowered = Lowered(jaxpr, platform_of(device), name, keep_unused=True, target=device)
    compiled = Compiled(lowered, device)
    if unflatten is None and len(compiled.out_avals) != 1:
        unflatten = list

    def run_sharded(arrays: Sequence) -> Any:
        found = run_compiled(compiled, arrays, committed)
        return found[0] if unflatten is None else unflatten(found)

    if isinstance(device, Placement):
        return run_sharded
    elsewhere = len(devices.backend_of(device).local_devices) > 1
    call = call_paths.entry(compiled, (), unflatten, committed, elsewhere)

    def run(arrays: Sequence) -> Any:
        return call([a.buffer() if a._buffer is None else a._buffer for a in arrays], arrays)

    if elsewhere or committed is not None or compiled.lowered.jaxpr.effects:
        return run
    return call_paths.plain_call(compiled, unflatten, run)


def parts_of(run: Callable) -> tuple | None:
    """Return `(execute, handlers, aval of the result)` of a simple `run` with one result, else None.

    Callers use it to save the call of `run`: XLA captures the stack at its call, and each frame costs.
    """
    return getattr(run, "parts", None)


# --- functions of several operations -------------------------------------------------------------


def prepare(
    fun: Callable[..., Any],
    arrays: Sequence[ConcreteArray],
    name: str,
    by_numpy: Callable[..., Any] | None = None,
    replace: Callable[[Callable], None] | None = None,
) -> Callable[[Sequence[ConcreteArray]], Any]:
    """Build a call of `fun`, which takes arrays by position, for arrays of these types.

    Its operations become one executable, or run through NumPy one after the other if that is bit-identical.
    The arrays are uncommitted, or committed to the same device.

    `by_numpy` computes the only result, bit for bit, from NumPy arrays, or raises IndexError. `replace`
    is given a faster call once there is one.
    """
    tree: Any = None
    container: Any = None  # makes the result of a list, if it is a tuple of arrays

    def flat(*tracers: Any) -> list:
        nonlocal tree, container
        found = fun(*tracers)
        leaves, tree = trees.flatten(found)
        if not _SCALARS.isdisjoint(map(type, leaves)):
            raise TypeError  # a result is no array: the function has to be called each time
        is_flat = isinstance(found, tuple) and len(found) == len(leaves)
        if is_flat and all(map(operator.is_, found, leaves)):
            container = getattr(found, "_make", tuple)
        return leaves

    jaxpr, consts = stage(flat, [a.aval for a in arrays])
    jaxpr = hoist_constants(prune_jaxpr(jaxpr))
    constants = tuple([as_array(c) for c in consts])
    committed = in_context(placement((*constants, *arrays)), len(constants) + len(arrays))
    device = committed if committed is not None else devices.default_device()
    first = arrays[0].aval if arrays and not constants else None
    on_host, where = _on_host(device, committed, first)
    is_watched = _thread.settings.debug_key_reuse or debug_nans.enabled()
    is_single = trees.treedef_is_leaf(tree) and tree.num_leaves  # `()` is one node, too
    unflatten = container or tree.unflatten

    def compiled() -> Callable:
        if is_watched or committed is not None or constants:
            return finished(_compiled_operation(jaxpr, device, committed, name))
        how = None if is_single else unflatten
        return _compiled_operation(jaxpr, device, committed, name, how)

    def finished(run: Callable) -> Callable:
        if committed is not None:
            run = _inheriting(run)
        if _thread.settings.debug_key_reuse:
            run = watch.watched_jaxpr(run, jaxpr)
        if debug_nans.enabled():
            run = debug_nans.watched_jaxpr(run, jaxpr)
        if is_single:
            return (lambda xs: run((*constants, *xs))) if constants else run
        if len(jaxpr.outvars) == 1:
            return lambda xs: unflatten([run((*constants, *xs))])
        return lambda xs: unflatten(run((*constants, *xs)))

    if not jaxpr.eqns and set(jaxpr.outvars) <= set(jaxpr.invars):
        inputs: list[Any] = jaxpr.invars
        positions = [inputs.index(v) for v in jaxpr.outvars]
        return finished(_aliased_operands(positions))
    if by_numpy is not None and on_host and not constants and _is_small(jaxpr):
        run = _first_by_numpy(
            by_numpy,
            jaxpr.outvars[0].aval,
            where(jaxpr.outvars[0].aval),
            lambda: _compiled_operation(jaxpr, device, committed, name),
        )
        return finished(_staying(run, committed))
    if not (on_host and _same_through_numpy(jaxpr)):
        return compiled()
    run = finished(_staying(_numpy_steps(jaxpr, where), committed))
    if sum([e.primitive.host_cost for e in jaxpr.eqns]) > tuning.NUMPY_MAX_PRIMITIVES:
        return _upgraded_after_calls(run, compiled, replace)
    return run


def _upgraded_after_calls(
    first: Callable,
    build: Callable[[], Callable],
    replace: Callable[[Callable], None] | None,
) -> Callable:
    """Return a function that calls `first`, and after many calls the equivalent, faster result of `build`."""
    run, left = first, tuning.COMPILE_AFTER_NUMPY_CALLS

    def call(arrays: Sequence) -> Any:
        nonlocal run, left
        if left:
            left -= 1
            if not left:
                run = build()
                if replace is not None:
                    replace(run)
        return run(arrays)

    return call


def _first_by_numpy(
    function: Callable, aval: Any, committed: Any, build: Callable[[], Callable]
) -> Callable:
    """Run by NumPy. On IndexError run the result of `build`; after many of these always."""
    run: Callable | None = None
    left, dtype = tuning.NUMPY_MAX_REFUSALS, aval.dtype

    def call(arrays: Sequence) -> Any:
        nonlocal run, left
        if left > 0:
            try:
                found = function(*[a.host() if a._host is None else a._host for a in arrays])
            except IndexError:
                left -= 1
            else:
                if type(found) is not _ndarray or found.dtype is not dtype:
                    found = _as_numpy(found, dtype)
                found.setflags(write=False)
                return ConcreteArray(aval, found, None, committed)
        if run is None:
            run = build()
        return run(arrays)

    return call


def _is_small(jaxpr: Jaxpr) -> bool:
    """Return whether NumPy takes less time than dispatch for operands and results of these types."""
    atoms: list[Any] = [*jaxpr.invars, *jaxpr.outvars]
    return all(
        not dtypes.is_extended(v.aval.dtype)
        and not dims.is_dim(v.aval.size)
        and v.aval.size <= tuning.NUMPY_MAX_ELEMENTS
        for v in atoms
    )


def _aliased_operands(positions: list[int]) -> Callable:
    """Alias operands as results: arrays are immutable."""
    if len(positions) == 1:
        return lambda arrays: arrays[positions[0]]
    return lambda arrays: [arrays[i] for i in positions]


# Pairs of operations that round and are never fused.
_SEPARATE = ((reduce_sum_p, mul_p), (reduce_sum_p, div_p))


def _same_through_numpy(jaxpr: Jaxpr) -> bool:
    """Return whether the NumPy references, one after the other, equal the executable bit for bit."""
    rounding: list[Any] = []
    narrow = False
    for eqn in jaxpr.eqns:
        p, avals = eqn.primitive, tuple([v.aval for v in eqn.invars])
        if p.is_higher_order or p.impl is not None or eqn.effects or p.reference_rule is None:
            return False
        if not (p.exact if isinstance(p.exact, bool) else p.exact(avals)):
            return False
        for aval in (*avals, *[v.aval for v in eqn.outvars]):
            if (
                dtypes.is_extended(aval.dtype)
                or dims.is_dim(aval.size)
                or aval.size > tuning.NUMPY_MAX_ELEMENTS
            ):
                return False
            narrow = narrow or dtypes.is_narrow_float(aval.dtype)
        if p.rounds and any(dtypes.is_inexact(v.aval.dtype) for v in eqn.outvars):
            rounding.append(eqn)
    if len(jaxpr.eqns) <= 1 or not rounding:
        return True
    if narrow:  # XLA computes several operations in float32 before it rounds
        return False
    if any(e.primitive is div_p and not _known_divisor(e, jaxpr) for e in rounding):
        return False
    return len(rounding) == 1 or tuple([e.primitive for e in rounding]) in _SEPARATE


def _known_divisor(eqn: Any, jaxpr: Jaxpr) -> bool:
    """Return whether it is clear that a divisor is a constant, or none: XLA may fold computed ones."""
    return type(eqn.invars[1]) is Literal or eqn.invars[1] in jaxpr.invars


def _times_reciprocal(divisor: Any) -> Callable:
    """Divide by a constant as XLA does: multiply by the reciprocal."""
    factor = divisor.dtype.type(1) / divisor
    return lambda x, _: x * factor


def _numpy_steps(jaxpr: Jaxpr, where: Callable[[Any], Any]) -> Callable:
    if len(jaxpr.eqns) == 1:
        (eqn,) = jaxpr.eqns
        inputs: list[Any] = jaxpr.invars
        simple = eqn.outvars == jaxpr.outvars and all(v in inputs for v in eqn.invars)
        if simple and (len(eqn.outvars) > 1 or not eqn.primitive.multiple_results):
            avals = [v.aval for v in eqn.outvars]
            out = avals if eqn.primitive.multiple_results else avals[0]
            entry = _host_entry(eqn.primitive, eqn.params, out, where, len(eqn.invars))
            if eqn.invars == inputs:
                return entry
            order = [inputs.index(v) for v in eqn.invars]
            if order == [0, 2, 1] and eqn.primitive is select_n_p:
                return _choosing(eqn.primitive.reference_rule, out, where(out), 2, 1)
            if len(order) > 1:
                ordered = operator.itemgetter(*order)
                return lambda arrays: entry(ordered(arrays))
            return lambda arrays: entry([arrays[i] for i in order])
    register: dict[Any, int] = {v: i for i, v in enumerate(jaxpr.invars)}
    literals: list[np.ndarray] = []
    first = len(register)  # values: the operands, the literals, then the results of the steps
    atoms = [*[a for e in jaxpr.eqns for a in e.invars], *jaxpr.outvars]
    for atom in atoms:
        if type(atom) is Literal and atom not in register:
            register[atom] = first + len(literals)
            literals.append(_as_numpy(atom.val, atom.aval.dtype))
    steps = []
    for eqn in jaxpr.eqns:
        reference = eqn.primitive.reference_rule
        if eqn.params:
            reference = functools.partial(reference, **eqn.params)
        if eqn.primitive is div_p and type(eqn.invars[1]) is Literal:
            divisor = eqn.invars[1]
            if dtypes.is_inexact(divisor.aval.dtype):
                reference = _times_reciprocal(np.asarray(divisor.val, divisor.aval.dtype))
        several = eqn.primitive.multiple_results
        operands = tuple([register[a] for a in eqn.invars])
        for v in eqn.outvars:
            register[v] = len(register)
        types = [v.aval.dtype for v in eqn.outvars]
        steps.append((reference, operands, types if several else types[0], several))
    # one array, or a list of several
    outs = [(register[a], a.aval, where(a.aval)) for a in jaxpr.outvars]

    def compute(values: list) -> list:
        for reference, operands, types, several in steps:
            found = reference(*[values[i] for i in operands])
            if several:
                values += [_as_numpy(x, dtype) for x, dtype in zip(found, types, strict=True)]
            elif type(found) is _ndarray and found.dtype is types:
                values.append(found)
            else:
                values.append(_as_numpy(found, types))
        return values

    def run(arrays: Sequence) -> list:
        values = [a.host() if a._host is None else a._host for a in arrays]
        values += literals
        values = _quietly(compute, values)
        return [_array(values[i], aval, committed) for i, aval, committed in outs]

    if len(outs) != 1:
        return run
    ((found_at, out_aval, committed),) = outs
    quietly = _run_quietly

    def run_single(arrays: Sequence) -> ConcreteArray:
        values = [a.host() if a._host is None else a._host for a in arrays]
        values += literals
        try:
            values = quietly(compute, values)
        except RuntimeError:
            values = _quietly(compute, values[: first + len(literals)])
        found = values[found_at]
        found.setflags(write=False)
        return ConcreteArray(out_aval, found, None, committed)

    return run_single
