"""Define reads and writes of references with masks, and atomic ones.

Each is a call of its composition from plain reads and writes, which is what CPUs run and what is checked. The call
has a name, by which Triton gets one operation for it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

import sagax.experimental.pallas._frames as _frames
import sagax.numpy as snp
from sagax._src.api.tracing_utils import named_scope
from sagax._src.core.jaxpr import ClosedJaxpr, eval_jaxpr
from sagax._src.core.staging import stage
from sagax._src.core.value import aval_of
from sagax._src.diagnostics.errors import ArgumentValueError
from sagax._src.higher_order.call import bind_call, call_primitive, jit_p
from sagax._src.primitives.references import Ref, RefView, ref_get, ref_set, ref_swap
from sagax._src.primitives.selection import select_n
from sagax._src.primitives.shaping import iota
from sagax._src.primitives.structural import convert
from sagax._src.transforms.discharge import contents, discharge_jaxpr, write_back
from sagax.experimental.pallas._memory import empty_value

_I32 = np.dtype(np.int32)

# The name scope of whole reads and writes that implement masked ones.
MASKED = "masked_access"

# An operation that has a form of its own in Triton, `kind`, with `options`; elsewhere it is its parameter `jaxpr`.
operation_p = call_primitive("kernel_operation")


@operation_p.discharge
def _(args: Sequence[Any], owned: Sequence[bool], *, jaxpr: ClosedJaxpr, **_: Any) -> list:
    found = discharge_jaxpr(jaxpr, owned)
    outs = eval_jaxpr(found.jaxpr.jaxpr, found.jaxpr.consts, *contents(args, owned))
    return write_back(args, found.written, outs)


@operation_p.key
def _(interpreter: Any, params: dict, *rest: Any) -> Any:
    rule: Any = jit_p.key_rule  # set where keys are followed
    return rule(interpreter, {"jaxpr": params["jaxpr"], "name": params["kind"]}, *rest)


@operation_p.check
def _(eqn: Any, *rest: Any) -> Any:
    rule: Any = jit_p.check_rule  # set where programs are checked
    params = {"jaxpr": eqn.params["jaxpr"], "name": eqn.params["kind"]}
    return rule(eqn.replace(primitive=jit_p, params=params), *rest)


@operation_p.show
def _(*, jaxpr: ClosedJaxpr, kind: str, **_: Any) -> dict:
    return {"kind": kind, "jaxpr": jaxpr}


@operation_p.lower
def _(b: Any, *args: Any, jaxpr: ClosedJaxpr, **_: Any) -> list:
    return b.inline(jaxpr.jaxpr, args)


def operation(kind: str, options: Any, fun: Callable[..., Any], *args: Any) -> Any:
    """Apply `fun` to references and arrays; in a kernel as one operation of the name `kind`."""
    if not _frames.inside_kernel():
        return fun(*args)
    several = True

    def flat(*xs: Any) -> Sequence[Any]:
        nonlocal several
        found = fun(*xs)
        several = type(found) is tuple
        return found if type(found) is tuple else (found,)

    jaxpr, consts = stage(flat, [x.aval if isinstance(x, Ref) else aval_of(x) for x in args])
    outs = bind_call(
        operation_p, ClosedJaxpr(jaxpr, ()), [*consts, *args], kind=kind, options=options
    )
    return tuple(outs) if several else outs[0]


# Masked reads and writes ---------------------------------------------------------------------------


def _view(ref: Any, idx: Any) -> Any:
    return ref if idx is None else ref.at[idx]


def _access(kind: str, ref: Any, fun: Callable[..., Any], **values: Any) -> Any:
    """Apply `fun` to a reference or a view, and to arrays; those that are None are left out."""
    given = {name: x for name, x in values.items() if x is not None}
    if not _frames.inside_kernel():
        return fun(ref, **given)
    base, transforms, operands = ref, (), ()
    if type(ref) is RefView:
        base, transforms, operands = ref._ref, ref._transforms, ref._operands
    n = len(operands)

    def flat(base: Any, *xs: Any) -> Any:
        view = RefView(base, transforms, xs[:n]) if transforms else base
        return fun(view, **dict(zip(given, xs[n:], strict=True)))

    return operation(kind, (transforms, n, tuple(given)), flat, base, *operands, *given.values())


def load(
    ref: Any,
    *,
    mask: Any = None,
    other: Any = None,
    cache_modifier: Any = None,
    eviction_policy: Any = None,
    volatile: bool = False,
) -> Any:
    """Read a reference or a view; elements where `mask` is False are `other`, which may be left out.

    Masked elements may lie out of bounds.

    >>> ref = sagax.new_ref(snp.arange(4.0))
    >>> load(ref.at[:2], mask=snp.array([True, False]), other=-1.0).tolist()
    [0.0, -1.0]
    """
    if mask is None:
        if other is not None:
            raise ArgumentValueError(
                "other is given without a mask", function="load", argument="other", got=other,
                fix="give mask=..., which selects the elements that are read",
            )  # fmt: skip
        return ref_get(ref)
    mask = snp.broadcast_to(mask, ref.shape)
    other = None if other is None else convert(other, ref.dtype)
    return _access("load", ref, _load, mask=mask, other=other)


def _load(ref: Any, mask: Any, other: Any = None) -> Any:
    found = _read_beyond(ref)
    filling = empty_value(ref.dtype) if other is None else other
    return select_n(mask, snp.broadcast_to(filling, ref.shape), found)


def store(ref: Any, val: Any, *, mask: Any = None, eviction_policy: Any = None) -> None:
    """Write a reference or a view; elements where `mask` is False stay. They may lie out of bounds.

    >>> ref = sagax.new_ref(snp.zeros(3))
    >>> store(ref, snp.ones(3), mask=snp.array([True, False, True]))
    >>> ref[...].tolist()
    [1.0, 0.0, 1.0]
    """
    if mask is None:
        ref_set(ref, None, val)
        return
    val = snp.broadcast_to(convert(val, ref.dtype), ref.shape)
    mask = snp.broadcast_to(mask, ref.shape)
    _access("store", ref, _write_beyond, val=val, mask=mask)


def _element_indices(ref: RefView) -> tuple | None:
    """Return the indices of elements of a view along each dimension, if its windows may leave the reference."""
    from_index = ref._transforms
    if len(from_index) != 1 or not hasattr(from_index[0], "entries"):
        return None
    given = iter(ref._operands)
    found, moving = [], False
    kept = 0
    ndim = ref.ndim
    for e in from_index[0].entries:
        if type(e) is tuple:
            index: Any = iota(_I32, len(range(*e))) * e[2] + e[0]
        elif hasattr(e, "size"):
            index = convert(next(given), _I32) + iota(_I32, e.size) * e.stride
            moving = True
        elif isinstance(e, int):
            found.append(np.int32(e))
            continue
        else:
            index = next(given)
            if aval_of(index).shape != ():
                return None
            moving = True
            found.append(index)
            continue
        found.append(snp.reshape(index, (-1, *[1] * (ndim - kept - 1))))
        kept += 1
    return tuple(found) if moving else None


def _read_beyond(ref: Any) -> Any:
    indices = _element_indices(ref) if type(ref) is RefView else None
    if indices is None:
        with named_scope(MASKED):
            return ref_get(ref)
    with named_scope(MASKED):
        whole = ref_get(ref._ref)
    return snp.broadcast_to(whole.at[indices].get(mode="clip"), ref.shape)


def _write_beyond(ref: Any, val: Any, mask: Any) -> tuple:
    indices = _element_indices(ref) if type(ref) is RefView else None
    if indices is None:
        with named_scope(MASKED):
            ref_set(ref, None, select_n(mask, ref_get(ref), val))
        return ()
    base = ref._ref
    # what is masked is written behind the end, where it is dropped
    first = snp.where(mask, snp.broadcast_to(indices[0], ref.shape), base.shape[0])
    with named_scope(MASKED):
        base[...] = ref_get(base).at[(first, *indices[1:])].set(val, mode="drop")
    return ()


def swap(ref: Any, idx: Any, val: Any, *, mask: Any = None) -> Any:
    """Write elements of a reference, and return what they were before."""
    target = _view(ref, idx)
    if mask is None:
        return ref_swap(target, None, val)
    before = load(target, mask=mask, other=0)
    store(target, val, mask=mask)
    return before


# Atomics: programs run one after the other on CPUs, so each is a read and a write -------------------


def _atomic(name: str, combine: Callable[[Any, Any], Any], doc: str) -> Callable:
    def apply(x_ref_or_view: Any, idx: Any, val: Any, *, mask: Any = None) -> Any:
        target = _view(x_ref_or_view, idx)
        val = snp.broadcast_to(convert(val, target.dtype), target.shape)
        mask = None if mask is None else snp.broadcast_to(mask, target.shape)
        return _access(name.removeprefix("atomic_"), target, run, val=val, mask=mask)

    def run(target: Any, val: Any, mask: Any = None) -> Any:
        if mask is None:
            before = ref_get(target)
            ref_set(target, None, combine(before, val))
            return before
        before = _load(target, mask, snp.zeros((), target.dtype))
        _write_beyond(target, combine(before, val), mask)
        return before

    apply.__name__ = apply.__qualname__ = name
    apply.__module__ = __name__
    apply.__doc__ = doc
    return apply


_RETURNS = "Return what they were before. Elements where `mask` is False stay."
atomic_add = _atomic("atomic_add", lambda a, b: a + b, f"Add to elements. {_RETURNS}")
atomic_max = _atomic("atomic_max", snp.maximum, f"Take the maximum with elements. {_RETURNS}")
atomic_min = _atomic("atomic_min", snp.minimum, f"Take the minimum with elements. {_RETURNS}")
atomic_and = _atomic("atomic_and", lambda a, b: a & b, f"Take the bitwise `and`. {_RETURNS}")
atomic_or = _atomic("atomic_or", lambda a, b: a | b, f"Take the bitwise `or`. {_RETURNS}")
atomic_xor = _atomic("atomic_xor", lambda a, b: a ^ b, f"Take the bitwise `xor`. {_RETURNS}")
atomic_xchg = _atomic("atomic_xchg", lambda a, b: b, f"Replace elements. {_RETURNS}")


def atomic_cas(ref: Any, cmp: Any, val: Any) -> Any:
    """Write `val` to a scalar reference if it holds `cmp`; return what it held.

    >>> ref = sagax.new_ref(snp.int32(3))
    >>> int(atomic_cas(ref, 3, 5)), int(ref[...])
    (3, 5)
    """
    if ref.shape != ():
        raise ArgumentValueError(
            "atomic_cas compares one scalar", function="atomic_cas", argument="ref", got=ref.shape,
            expected="a reference of shape ()", fix="select an element: ref.at[i]",
        )  # fmt: skip
    cmp, val = (snp.reshape(convert(x, ref.dtype), ()) for x in (cmp, val))
    return _access("cas", ref, _compare_and_swap, cmp=cmp, val=val)


def _compare_and_swap(ref: Any, cmp: Any, val: Any) -> Any:
    before = ref_get(ref)
    ref_set(ref, None, snp.where(before == cmp, val, before))
    return before
