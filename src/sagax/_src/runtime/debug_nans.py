"""Find the operation of the first NaN or infinity: `debug_nans` and `debug_infs`.

Eager operations are checked as they run. Of an executable only the results are checked. If one is bad, its
jaxpr is evaluated operation by operation, and the first operation is blamed whose bad result flows into
that result. NaNs that a `where` masks are therefore not blamed.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from sagax._src import config
from sagax._src.core import dtypes, memo_keys
from sagax._src.core.families import IDENTITY, MOVEMENT
from sagax._src.core.jaxpr import ClosedJaxpr, Jaxpr, Literal, Var, eval_jaxpr, subjaxprs
from sagax._src.core.operands import LoopOperands, WhileOperands
from sagax._src.core.shardings import unreduced_axes
from sagax._src.diagnostics.errors import NonFiniteError
from sagax._src.lazy_import import lazy_imports
from sagax._src.runtime.array import ConcreteArray, as_array
from sagax._src.source_stacks import origin

if TYPE_CHECKING or lazy_imports():
    from sagax._src.higher_order import shard_map


_thread = config.thread
_MOST_ROUNDS = 10_000  # iterations of a loop that are searched


def enabled() -> bool:
    """Return whether to check results."""
    return _thread.settings.debug_nans or _thread.settings.debug_infs


def watched_operation(run: Callable, primitive: Any, params: dict) -> Callable:
    """Return a function `run(arrays)`, which evaluates an operation and checks its results."""
    several = primitive.multiple_results

    def watched(arrays: Sequence[ConcreteArray]) -> Any:
        result = run(arrays)
        look_at(primitive, arrays, params, result if several else [result])
        return result

    return watched


def look_at(primitive: Any, args: Sequence[Any], params: dict, outs: Sequence[Any]) -> None:
    """Check the results of an operation that has run.

    One that moves elements did not make the NaN that it was given. Formulas broadcast one for a `where` that may mask it,
    and whatever computes with it is blamed. Residuals of a call may be multiplied by zero, or masked: only its results
    count.
    """
    called = params.get("jaxpr") if primitive.is_call else None
    if type(called) is ClosedJaxpr:
        outs = outs[: called.jaxpr.memo.get(memo_keys.RESULTS)]
    if any(map(_classify, outs)):
        ins = [as_array(a) for a in args]
        if _moves(primitive) and any(map(_classify, ins)):
            return
        if primitive.is_higher_order:
            _look_inside(primitive, params, ins, (), _written(params, origin))
        raise _error(primitive.name, ins, outs, origin())


def _written(params: dict, where: Callable[[], Any]) -> Any:
    """Return where a call of a formula stands: its jaxpr is kept, and tells where another call of it stood."""
    return where() if params.get("is_formula") else None


def _moves(primitive: Any) -> bool:
    """Return whether the results are the operands' elements at other indices: sorts are of no family."""
    sorts = primitive.multiple_results and not (primitive.creates_nan or primitive.is_higher_order)
    return primitive.family in (MOVEMENT, IDENTITY) or sorts


def watched_jaxpr(run: Callable, jaxpr: Jaxpr) -> Callable:
    """Return a function `run(arrays)`, which evaluates a jaxpr and checks its results."""

    def watched(arrays: Sequence[ConcreteArray]) -> Any:
        result = run(arrays)
        outs = result if type(result) is list else [result]
        if any(map(_classify, outs)):
            search(jaxpr, arrays)
            raise _error_of_result(outs)
        return result

    return watched


def watched_call(
    run: Callable,
    jaxpr: Jaxpr,
    consts: Sequence[Any],
    leaves: Callable[[Any], Sequence[Any]],
    donates: bool,
) -> Callable:
    """Return a function `run(buffers, arrays)`, which calls a compiled function and checks its results.

    If it donates arguments, it copies them before the call: the search needs their values.
    """

    def watched(buffers: list, arrays: Sequence[ConcreteArray]) -> Any:
        operands = [_copied(x) for x in arrays] if donates else list(arrays)
        result = run(buffers, arrays)
        outs = leaves(result)
        if any(map(_classify, outs)):
            search(jaxpr, [*consts, *operands])
            raise _error_of_result(outs)
        return result

    return watched


def _copied(x: ConcreteArray) -> ConcreteArray:
    return x if dtypes.is_extended(x.aval.dtype) else as_array(np.array(x))


def _classify(x: Any) -> str:
    """Classify an array: "nan", "inf", or "" for finite."""
    if not isinstance(x, ConcreteArray) or not dtypes.is_inexact(x.aval.dtype):
        return ""
    return next(filter(None, map(_classify_values, _contents(x))), "")


def _classify_values(host: np.ndarray) -> str:
    settings = _thread.settings
    if settings.debug_nans and np.isnan(host).any():
        return "nan"
    return "inf" if settings.debug_infs and np.isinf(host).any() else ""


def _is_whole(x: ConcreteArray) -> bool:
    """Return whether this process can read the elements: not of an array that spans processes, nor of one that is not summed yet."""
    sharding = x.sharding
    if unreduced_axes(sharding):
        return False
    return sharding.is_fully_addressable or sharding.is_fully_replicated


def _contents(x: ConcreteArray) -> list[np.ndarray]:
    """Return the values that this process has: the elements, or its shards of them, or summands."""
    return [x.host()] if _is_whole(x) else [s.data.host() for s in x.addressable_shards]


# --- the search ----------------------------------------------------------------------------------


def search(
    jaxpr: Jaxpr, values: Sequence[Any], path: tuple[str, ...] = (), written: Any = None
) -> None:
    """Raise NonFiniteError for the operation that computes the bad results of a jaxpr, `written` there.

    That is the first one on the way to a bad result that no other operation gave a bad operand; moving the elements of
    a bad argument or constant is none. Returns if there is none: a result may be an argument, and an executable may differ from its operations in the last bit.
    """
    arrays = [as_array(x) for x in values]
    env: dict[Any, Any] = dict(zip([*jaxpr.constvars, *jaxpr.invars], arrays, strict=True))
    producer: dict[Any, Any] = {}
    for eqn in jaxpr.eqns:
        ins = [_read(env, a) for a in eqn.invars]
        outs = _evaluated(eqn, ins)
        env.update(zip(eqn.outvars, outs, strict=True))
        bad = [a for a, x in zip(eqn.invars, ins, strict=True) if _classify(x)]
        if not (bad and _moves(eqn.primitive) and not any(a in producer for a in bad)):
            producer.update(dict.fromkeys(eqn.outvars, eqn))
    todo = [v for v in jaxpr.outvars if type(v) is Var and _classify(env[v])]
    visited: set[Any] = set()
    guilty: list[Any] = []
    while todo:
        v = todo.pop()
        if v in visited or v not in producer:
            continue
        visited.add(v)
        bad = [a for a in producer[v].invars if a in producer and _classify(env[a])]
        todo.extend(bad)
        if not bad:
            guilty.append(producer[v])
    if not guilty:
        return
    eqn = next(e for e in jaxpr.eqns if e in guilty)
    ins = [_read(env, a) for a in eqn.invars]
    here = written or eqn.traceback
    _look_inside(
        eqn.primitive, eqn.params, ins, path, written or _written(eqn.params, lambda: here)
    )
    raise _error(eqn.primitive.name, ins, [env[v] for v in eqn.outvars], here, path)


def _read(env: dict, atom: Any) -> ConcreteArray:
    return as_array(np.asarray(atom.val, atom.aval.dtype)) if type(atom) is Literal else env[atom]


def _evaluated(eqn: Any, ins: Sequence[Any]) -> list:
    with config.context(debug_nans=False, debug_infs=False):
        out = eqn.primitive.bind(*ins, **eqn.params)
    return list(out) if eqn.primitive.multiple_results else [out]


def _look_inside(
    primitive: Any, params: dict, ins: list, path: tuple[str, ...], written: Any
) -> None:
    """Search the sub-jaxpr of an operation."""
    name = primitive.name
    if name == "scan":
        _look_inside_scan(params, ins, path, written)
    elif name == "while":
        _look_inside_while(params, ins, path, written)
    elif name == "shard_map":
        _look_inside_devices(params, ins, path)
    elif name == "cond":
        index = int(np.clip(int(ins[0]), 0, len(params["branches"]) - 1))
        branch = params["branches"][index]
        search(branch.jaxpr, [*branch.consts, *ins[1:]], path, written)
    else:
        inner = subjaxprs(params)
        if len(inner) == 1 and len(inner[0].invars) == len(ins) and not inner[0].constvars:
            search(inner[0], ins, path, written)


def _look_inside_devices(params: dict, ins: list, path: tuple[str, ...]) -> None:
    inner, mesh = params["jaxpr"].jaxpr, params["mesh"]
    with config.context(debug_nans=False, debug_infs=False):
        values = shard_map.inner_values(ins, params)
    env = {**dict(zip(inner.invars, ins, strict=True)), **values}
    for eqn in inner.eqns:
        bad = [v for v in eqn.outvars if _classify(env.get(v))]
        inputs = [env[a] for a in eqn.invars if a in env]
        if bad and not any(map(_classify, inputs)):
            rows = [k for k in range(mesh.size) if _classify(as_array(env[bad[0]].host()[k]))]
            index = np.unravel_index(rows[0], mesh.axis_sizes)
            where = ", ".join([f"{n}={i}" for n, i in zip(mesh.axis_names, index)])
            operands = [
                as_array(env[a].host()[rows[0]]) if a in values else _read(env, a)
                for a in eqn.invars
                if type(a) is Literal or a in env
            ]
            outs = [as_array(env[v].host()[rows[0]]) for v in bad]
            path = (*path, f"device {where} of shard_map")
            raise _error(eqn.primitive.name, operands, outs, eqn.traceback, path)


def _look_inside_scan(params: dict, ins: list, path: tuple[str, ...], written: Any) -> None:
    body, length = params["jaxpr"], params["length"]
    consts, carry, sequences = LoopOperands.of_scan(ins, params)
    xs = [x.host() for x in sequences]
    for k in range(min(length, _MOST_ROUNDS)):
        i = length - 1 - k if params["reverse"] else k
        operands = [*consts, *carry, *[as_array(x[i]) for x in xs]]
        outs = _run(body, operands)
        if any(map(_classify, outs)):
            path = (*path, f"iteration {i} of scan")
            search(body.jaxpr, [*body.consts, *operands], path, written)
            return
        carry = outs[: len(carry)]


def _look_inside_while(params: dict, ins: list, path: tuple[str, ...], written: Any) -> None:
    cond, body = params["cond_jaxpr"], params["body_jaxpr"]
    cond_consts, body_consts, carry = WhileOperands.of_while(ins, params)
    for k in range(_MOST_ROUNDS):
        if not bool(_run(cond, [*cond_consts, *carry])[0]):
            return
        outs = _run(body, [*body_consts, *carry])
        if any(map(_classify, outs)):
            where = (*path, f"iteration {k} of while_loop")
            search(body.jaxpr, [*body.consts, *body_consts, *carry], where, written)
            return
        carry = outs


def _run(closed: Any, operands: Sequence[Any]) -> list:
    with config.context(debug_nans=False, debug_infs=False):
        return [as_array(x) for x in eval_jaxpr(closed.jaxpr, closed.consts, *operands)]


# --- the error -----------------------------------------------------------------------------------


def _error_of_result(outs: Sequence[Any]) -> NonFiniteError:
    """Return the error for results that no operation of the function is to blame for."""
    return _error("the result of a jitted function", (), outs, origin())


def _error(
    name: str, ins: Sequence[Any], outs: Sequence[Any], traceback: Any, path: tuple = ()
) -> NonFiniteError:
    bad = next(x for x in outs if _classify(x))
    host = next(filter(_classify_values, _contents(bad)))
    marks = np.isnan(host) if _classify(bad) == "nan" else np.isinf(host)
    at = tuple(int(i) for i in np.argwhere(marks)[0])
    operands = []
    for x in ins:
        if isinstance(x, ConcreteArray) and not dtypes.is_extended(x.aval.dtype):
            if not (_is_whole(x) and _is_whole(bad)):
                operands.append(_kind_of(x))
            elif x.aval.shape == bad.aval.shape:
                operands.append(f"{x.host()[at]}")
            elif x.aval.shape == ():
                operands.append(f"{x.host()[()]}")
            else:
                operands.append(_range_of(x))
    count = int(marks.sum())
    return NonFiniteError.found(_classify(bad), name, at, operands, count, path, traceback)


def _kind_of(x: ConcreteArray) -> str:
    return f"{dtypes.name(x.aval.dtype)}{list(x.aval.shape)}"


def _range_of(x: ConcreteArray) -> str:
    host, kind = x.host(), _kind_of(x)
    if host.size == 0 or host.dtype.kind == "c":
        return kind
    return f"{kind} from {host.min()} to {host.max()}"
