"""Compute random draws along a dimension that is long enough for SIMD vectors.

Bits are enciphered counters. If the last dimension of a draw is short (points in a plane, a few numbers for
each of many keys), LLVM does not vectorize the loop over it, and a cipher of 20 rounds takes five times as
long. So such a draw is computed as a vector, or with the keys in the last dimension, and so are elementwise
operations on it. Other readers get it reshaped.
"""

from __future__ import annotations

import functools
import math
from typing import Any, NamedTuple

import numpy as np

from sagax._src import tuning
from sagax._src.core import dims, memo_keys
from sagax._src.core.jaxpr import Eqn, Jaxpr, Var
from sagax._src.core.staging import stage
from sagax._src.lowering.map_subjaxprs import within
from sagax._src.primitives.casting import bitcast_convert_type_p
from sagax._src.primitives.identities import optimization_barrier_p
from sagax._src.primitives.random_bits import is_key_dtype, random_bits_p, random_unwrap_p
from sagax._src.primitives.shaping import iota_p, unstack
from sagax._src.primitives.structural import reshape, transpose
from sagax._src.transforms.derived import derived

_U32 = np.dtype(np.uint32)


class _Form(NamedTuple):
    """Describe the layout of the elements of a draw during its computation."""

    shape: tuple[int, ...]  # of the draw
    keys: int  # dimensions of these that belong to keys

    @property
    def flat(self) -> tuple[int, ...]:
        """Return the shape of the computation: one dimension, or the keys last."""
        counts, keys = math.prod(self.shape[self.keys :]), math.prod(self.shape[: self.keys])
        return (counts, keys) if self.keys else (counts,)

    def bits(self, keys: Any, bit_width: int, impl: Any) -> Any:
        """Draw random bits of the shape `flat`."""
        data = random_unwrap_p.bind(keys)
        words = list(unstack(data, self.keys))
        shape = self.flat[:1]
        if self.keys:
            words = [reshape(word, (1, self.flat[1])) for word in words]
            shape = (*shape, 1)
        counter = iota_p.bind(dtype=_U32, shape=shape, dimension=0)
        return impl.bits_of_counters(words, bit_width, [np.uint32(0), counter])

    def in_shape(self, x: Any) -> Any:
        """Restore values of the shape `flat` to that of the draw."""
        return reshape(transpose(x, (1, 0)) if self.keys else x, self.shape)


def flat_draws(jaxpr: Jaxpr) -> Jaxpr:
    """Compute draws of `jaxpr` with a short last dimension along a long one."""
    return derived(jaxpr, (memo_keys.FLAT_DRAWS,), lambda: _flat_draws(jaxpr))


def _flat_draws(jaxpr: Jaxpr) -> Jaxpr:
    eqns = within(jaxpr.eqns, flat_draws)
    forms = {eqn.outvars[0]: _form_of(eqn) for eqn in eqns if eqn.primitive is random_bits_p}
    if not any(forms.values()):
        return jaxpr if eqns is jaxpr.eqns else jaxpr.replace(eqns=eqns)
    flat: dict[Var, tuple[_Form, Var]] = {}  # a value -> its form and its flat variable
    shaped: dict[Var, Var] = {}  # the same value in its shape, once that is needed
    out: list[Eqn] = []

    def put(fun: Any, operand: Var, eqn: Eqn) -> Var:
        """Append the equations of a function of one operand on behalf of `eqn`; return its result."""
        inner = stage(lambda x: [fun(x)], [operand.aval])[0]
        new: dict[Any, Any] = {inner.invars[0]: operand}
        for e in inner.eqns:
            outvars = [new.setdefault(v, Var(v.aval)) for v in e.outvars]
            at = {"traceback": eqn.traceback, "scope": eqn.scope}
            out.append(e.replace(invars=[_read(new, v) for v in e.invars], outvars=outvars, **at))
        return new[inner.outvars[0]]

    def read(v: Any, eqn: Eqn) -> Any:
        if type(v) is not Var or v not in flat:
            return v
        if v not in shaped:
            form, value = flat[v]
            written = Var(value.aval)
            at = {"traceback": eqn.traceback, "scope": eqn.scope}
            out.append(Eqn(optimization_barrier_p, [value], [written], {}, **at))
            shaped[v] = put(form.in_shape, written, eqn)
        return shaped[v]

    for eqn in eqns:
        result: Any = eqn.outvars[0] if eqn.outvars else None
        form = forms.get(result)
        if form is not None:
            keys, width = read(eqn.invars[0], eqn), eqn.params["bit_width"]
            impl = keys.aval.dtype.impl
            draw = functools.partial(form.bits, bit_width=width, impl=impl)
            bits = put(draw, keys, eqn)
            flat[result] = form, bits
        elif (form := _joined(eqn, flat)) is not None:
            new = Var(result.aval.update(shape=form.flat))
            invars = [flat[v][1] if type(v) is Var and v in flat else v for v in eqn.invars]
            out.append(eqn.replace(invars=invars, outvars=[new]))
            flat[result] = form, new
        else:
            out.append(eqn.replace(invars=[read(v, eqn) for v in eqn.invars]))
    if not eqns:
        return jaxpr
    outvars = [read(v, eqns[-1]) for v in jaxpr.outvars]
    return jaxpr.replace(eqns=out, outvars=outvars)


def _read(new: dict, v: Any) -> Any:
    return new[v] if type(v) is Var else v


def _form_of(eqn: Eqn) -> _Form | None:
    """Return the form for a draw of bits; None to leave it unchanged."""
    keys, shape = eqn.invars[0].aval, eqn.outvars[0].aval.shape
    if not dims.is_static(shape) or len(shape) < 2 or not is_key_dtype(keys.dtype):
        return None
    if not eqn.params.get("partitionable", True):
        return None
    short = shape[-1] < tuning.FLAT_DRAW_MAX_LAST_DIM and shape[-1] % 8
    if (
        not short
        or math.prod(shape) < tuning.FLAT_DRAW_MIN_ELEMENTS
        or keys.dtype.impl.bits_of_counters is None
    ):
        return None
    form = _Form(tuple(shape), len(keys.shape))
    if form.keys and (len(shape) == form.keys or math.prod(keys.shape) < tuning.FLAT_DRAW_MIN_KEYS):
        return None
    return form if math.prod(shape[form.keys :]) < 1 << 32 else None


def _joined(eqn: Eqn, flat: dict[Var, tuple[_Form, Var]]) -> _Form | None:
    """Return the form of an elementwise equation of draws and scalars, or None."""
    p = eqn.primitive
    if not (p.elementwise or p is bitcast_convert_type_p) or len(eqn.outvars) != 1:
        return None
    forms = set()
    for v in eqn.invars:
        if type(v) is Var and v in flat:
            forms.add(flat[v][0])
        elif v.aval.shape:
            return None
    if len(forms) != 1:
        return None
    (form,) = forms
    return form if eqn.outvars[0].aval.shape == form.shape else None
