"""What every primitive must satisfy, said once and tried on its samples.

Each law takes a primitive and a sample; `primitives/test_laws.py` applies all of them to all samples. Truth comes
from the NumPy reference rule, from differences of it in double precision, and from loops.
"""

from __future__ import annotations

import importlib
import itertools
import os
import pkgutil
import zlib
from collections.abc import Iterator, Sequence
from types import ModuleType
from typing import Any

import numpy as np

import sagax
import sagax.random
from sagax._src import api, callbacks, collectives, higher_order, primitives
from sagax._src.api.jit import jit
from sagax._src.core import dims, dtype_predicates, dtypes
from sagax._src.core.avals import intern_aval
from sagax._src.core.families import RULES, SLOTS, UNKNOWN
from sagax._src.core.primitive import Primitive
from sagax._src.core.samples import Sample, Spec
from sagax._src.core.staging import stage
from sagax._src.core.tangents import Linear, Zero
from sagax._src.core.value import aval_of
from sagax._src.core.verify import check_jaxpr
from sagax._src.runtime import key_reuse
from sagax._src.transforms.batch import BatchAxis, batch_flat, move_batch_dim
from sagax._src.transforms.jvp import jvp_flat
from sagax._src.transforms.linearize import linearize_flat
from sagax._src.transforms.transpose import backward
from sagax.experimental import checkify, pallas, sparse

FULL = os.environ.get("FULL") == "1"  # `make test-full`

LANGUAGE = (primitives, collectives, higher_order, callbacks, sparse)
# packages that define primitives of their own, and those whose passes add rules to primitives
ALL = (*LANGUAGE, api, key_reuse, sagax.random, checkify, pallas)


def all_primitives(packages: Sequence[ModuleType] = LANGUAGE) -> list[Primitive]:
    """Every primitive that is defined in packages, by name."""
    found: dict[str, Primitive] = {}
    for package in packages:
        for info in pkgutil.walk_packages(package.__path__, package.__name__ + "."):
            module = importlib.import_module(info.name)
            for value in vars(module).values():
                if isinstance(value, Primitive):
                    found.setdefault(value.name, value)
    return [found[name] for name in sorted(found)]


def cases() -> Iterator[tuple[str, Primitive, Sample]]:
    """(id, primitive, sample) for all samples."""
    for p in all_primitives():
        for i, sample in enumerate(p.samples):
            yield f"{p.name}-{i}", p, sample


def fill(sample: Sample, name: str) -> list[np.ndarray]:
    """The operands of a sample as arrays, the same in every run."""
    rng = np.random.default_rng(zlib.crc32(name.encode()))
    return [o if not isinstance(o, Spec) else _fill(o, rng) for o in sample.operands]


def _fill(spec: Spec, rng: np.random.Generator) -> np.ndarray:
    dtype = np.dtype(spec.dtype)
    kind = dtypes.kind(dtype)
    size = int(np.prod(spec.shape, dtype=int))
    if kind == "b":
        return rng.integers(0, 2, spec.shape).astype(bool)
    if kind in "iu":
        return rng.integers(int(spec.low), int(spec.high), spec.shape).astype(dtype)
    if spec.unique:
        values = np.linspace(spec.low, spec.high, size + 2)[1:-1]
        return rng.permutation(values).reshape(spec.shape).astype(dtype)
    if kind == "c":
        real, imag = rng.uniform(spec.low, spec.high, (2, *spec.shape))
        return (real + 1j * imag).astype(dtype)
    return rng.uniform(spec.low, spec.high, spec.shape).astype(dtype)


def as_list(p: Primitive, out: Any) -> list:
    return list(out) if p.multiple_results else [out]


def bind(p: Primitive, sample: Sample) -> Any:
    """The primitive of a sample as a function of flat operands with a flat result."""
    return lambda *xs: as_list(p, p.bind(*xs, **sample.params))


def reference(p: Primitive, sample: Sample, operands: list) -> list[np.ndarray]:
    """The results by the NumPy rule, or by that of the composite run eagerly."""
    with np.errstate(all="ignore"):
        if p.reference_rule is None:
            return [np.asarray(x) for x in as_list(p, p.composite_rule(*operands, **sample.params))]
        return [np.asarray(x) for x in as_list(p, p.reference_rule(*operands, **sample.params))]


def tolerance(dtype: Any, sample: Sample) -> float:
    if sample.tolerance is not None:
        return sample.tolerance
    part = dtype_predicates.real_part_dtype(dtype)
    return {2: 2e-2, 4: 2e-5, 8: 1e-10}.get(part.itemsize, 0.3) if dtypes.is_inexact(dtype) else 0


def assert_close(have: Any, want: Any, rtol: float, what: str) -> None:
    have, want = np.asarray(have), np.asarray(want)
    assert have.shape == want.shape, f"{what}: shape {have.shape}, expected {want.shape}"
    assert have.dtype == want.dtype, f"{what}: dtype {have.dtype}, expected {want.dtype}"
    if not dtypes.is_inexact(have.dtype):
        np.testing.assert_array_equal(have, want, err_msg=what)
        return
    wide = np.complex128 if have.dtype.kind == "c" else np.float64
    np.testing.assert_allclose(
        have.astype(wide), want.astype(wide), rtol=rtol, atol=rtol, err_msg=what
    )


def answers_every_slot(p: Primitive) -> None:
    """A primitive of a family answers what passes ask: by a rule, a trait, or a default with its reason."""
    assert p.family is not UNKNOWN, f"{p} has no family: look at core/families.py"
    for slot in SLOTS:
        assert getattr(p, slot) is not None, f"{p} does not answer {slot}"
    for slot in RULES:
        answer = getattr(p, slot)
        assert callable(answer) or answer.reason, f"the default of {p} for {slot} has no reason"


# The laws ------------------------------------------------------------------------------------------


def abstract_agrees_with_reference(p: Primitive, sample: Sample, name: str) -> None:
    """Shapes and dtypes of the abstract rule are those of the NumPy results."""
    operands = fill(sample, name)
    out = as_list(p, p.abstract_eval(tuple(aval_of(x) for x in operands), sample.params))
    for aval, x in zip(out, reference(p, sample, operands), strict=True):
        assert aval.shape == x.shape
        assert aval.dtype == x.dtype


def compiled_agrees_with_reference(p: Primitive, sample: Sample, name: str) -> None:
    """Evaluated at once, compiled, and by the reference: the same."""
    operands = fill(sample, name)
    want = reference(p, sample, operands)
    fun = bind(p, sample)
    for how, have in (("eager", fun(*operands)), ("jit", jit(fun)(*operands))):
        for i, (h, w) in enumerate(zip(have, want, strict=True)):
            assert_close(h, w, tolerance(w.dtype, sample), f"{how} result {i}")


def staged_program_is_well_typed(p: Primitive, sample: Sample, name: str) -> None:
    """The jaxpr of one application obeys the laws of jaxprs, and so does that of its derivative."""
    avals = [aval_of(x) for x in fill(sample, name)]
    jaxpr, consts = stage(bind(p, sample), avals)
    check_jaxpr(jaxpr)
    assert not consts


def _directions(operands: list, rng: np.random.Generator) -> list:
    """A random tangent for each inexact operand, `Zero` for the others."""
    out = []
    for x in operands:
        if not dtypes.is_inexact(x.dtype):
            out.append(Zero(aval_of(x).to_tangent_aval()))
        else:
            v = rng.normal(size=x.shape)
            if x.dtype.kind == "c":
                v = v + 1j * rng.normal(size=x.shape)
            out.append(v.astype(x.dtype))
    return out


def _wide(x: np.ndarray) -> np.ndarray:
    if not dtypes.is_inexact(x.dtype):
        return x
    return x.astype(np.complex128 if x.dtype.kind == "c" else np.float64)


def jvp_agrees_with_differences(p: Primitive, sample: Sample, name: str) -> None:
    """The jvp is the limit of differences of the reference, taken in double precision."""
    operands = fill(sample, name)
    rng = np.random.default_rng(zlib.crc32(name.encode()) + 1)
    tangents = _directions(operands, rng)
    outs, got = jvp_flat(bind(p, sample), operands, tangents)
    step = 1e-6
    moved = []
    for sign in (1, -1):
        at = [
            _wide(x) if type(t) is Zero else _wide(x) + sign * step * _wide(t)
            for x, t in zip(operands, tangents, strict=True)
        ]
        moved.append(reference(p, widened(p, sample), at))
    for i, (out, t, hi, lo) in enumerate(zip(outs, got, *moved, strict=True)):
        dtype = aval_of(out).dtype
        if type(t) is Zero:
            if dtypes.is_inexact(dtype):
                np.testing.assert_allclose(
                    _wide(hi), _wide(lo), atol=1e-5, err_msg=f"{i}: the tangent is no zero"
                )
            continue
        want = (_wide(hi) - _wide(lo)) / (2 * step)
        assert aval_of(t).shape == aval_of(out).shape and aval_of(t).dtype == dtype, (
            f"{i}: type of the tangent"
        )
        rtol = max(tolerance(dtype, sample), 5e-4)
        np.testing.assert_allclose(
            _wide(np.asarray(t)), want, rtol=rtol, atol=rtol, err_msg=f"jvp of result {i}"
        )


def widened(p: Primitive, sample: Sample) -> Sample:
    """The sample with dtype parameters as wide as the double precision operands."""
    params = {}
    for k, v in sample.params.items():
        if isinstance(v, np.dtype) and v.kind == "f" and v.itemsize < 8:
            v = np.dtype(np.float64)
        elif isinstance(v, np.dtype) and v.kind == "c":
            v = np.dtype(np.complex128)
        params[k] = v
    return Sample(*sample.operands, **params)


def transpose_passes_the_dot_test(p: Primitive, sample: Sample, name: str) -> None:
    """For the linear part L of the derivative: <ct, L v> = <L^T ct, v>."""
    operands = fill(sample, name)
    rng = np.random.default_rng(zlib.crc32(name.encode()) + 2)
    marks = [dtypes.is_inexact(x.dtype) for x in operands]
    if not any(marks):
        return
    outs, program = linearize_flat(bind(p, sample), operands, marks)
    tangents = [t for t in _directions(operands, rng) if type(t) is not Zero]
    pushed = [x for x in program.apply(tangents) if type(x) is not Zero]
    if not pushed:
        return
    cts = list(_directions([np.asarray(x) for x in pushed], rng))
    pulled = backward(program.jaxpr, program.residuals, [Linear(aval_of(t)) for t in tangents], cts)

    def pair(xs: list, ys: list) -> Any:
        parts = [
            np.sum(_wide(np.asarray(x)) * _wide(np.asarray(y)))
            for x, y in zip(xs, ys, strict=True)
            if type(x) is not Zero
        ]
        return np.real(sum(parts))  # maps such as `abs` are linear over the reals only

    scale = 1 + sum(float(np.sum(np.abs(_wide(np.asarray(x))))) for x in pushed)
    rtol = max(tolerance(aval_of(pushed[0]).dtype, sample), 2e-4)
    np.testing.assert_allclose(pair(pulled, tangents), pair(cts, pushed), atol=rtol * scale)
    for ct, t in zip(pulled, tangents, strict=True):
        if type(ct) is not Zero:
            assert aval_of(ct).shape == t.shape and aval_of(ct).dtype == t.dtype


def batching_agrees_with_a_loop(p: Primitive, sample: Sample, name: str) -> None:
    """Mapped over any subset of operands, along the first or the last axis: as example by example.

    The first sample of a primitive maps all operands along both, the rest is mapped along one of the two, in turns, and
    of three operands and more in other samples one, in turns, or all; any along both with FULL=1.
    """
    operands = fill(sample, name)
    n = len(operands)
    size = 3
    fun = bind(p, sample)
    subsets = [m for m in itertools.product((False, True), repeat=n) if any(m)]
    few = n > 2 and not FULL and not name.endswith("-0")
    if n > 4 or few:
        single = [zlib.crc32(name.encode()) % n] if few else range(n)
        subsets = [tuple(i == j for j in range(n)) for i in single] + [(True,) * n]
    for turn, subset in enumerate(subsets, zlib.crc32(name.encode())):
        both = FULL or (all(subset) and name.endswith("-0"))
        for last in (False, True) if both else (turn % 2 == 1,):
            stacked, in_dims, examples = [], [], []
            for k, (x, mapped) in enumerate(zip(operands, subset, strict=True)):
                if not mapped:
                    stacked.append(x)
                    in_dims.append(None)
                    examples.append([x] * size)
                    continue
                variants = [
                    fill(sample, f"{name}/{j}")[k] if isinstance(sample.operands[k], Spec) else x
                    for j in range(size)
                ]
                d = x.ndim if last else 0
                stacked.append(np.stack(variants, d))
                in_dims.append(d)
                examples.append(variants)
            outs, out_dims = batch_flat(fun, BatchAxis(size), stacked, in_dims)
            each = [fun(*[e[j] for e in examples]) for j in range(size)]
            for i, (out, d) in enumerate(zip(outs, out_dims, strict=True)):
                have = np.asarray(move_batch_dim(out, d, 0, BatchAxis(size)))
                want = np.stack([np.asarray(e[i]) for e in each])
                assert_close(
                    have,
                    want,
                    tolerance(want.dtype, sample),
                    f"mapped {subset}, last={last}, result {i}",
                )


def symbolic_shapes_specialise(p: Primitive, sample: Sample, name: str) -> bool:
    """With sizes replaced by symbols the abstract rule gives a shape that evaluates to the concrete one.

    False where the parameters hold sizes, so that the rule refuses symbols.
    """
    avals = [aval_of(x) for x in fill(sample, name)]
    sizes = sorted({s for a in avals for s in a.shape if s > 1})
    if not sizes:
        return True
    names = [f"n{s}" for s in sizes]
    symbols = dict(zip(sizes, dims.symbolic_shape(", ".join(names)), strict=True))
    env = {f"n{s}": s for s in sizes}
    symbolic = [
        intern_aval(tuple(symbols.get(s, s) for s in a.shape), a.dtype, a.weak_type, None)
        for a in avals
    ]
    try:
        out = as_list(p, p.abstract_eval(tuple(symbolic), sample.params))
    except sagax.errors.InconclusiveDimensionOperation:
        return True  # whether one size exceeds another cannot be told: refused, as it must be
    except sagax.errors.SagaxError:
        return False
    want = as_list(p, p.abstract_eval(tuple(avals), sample.params))
    for s, w in zip(out, want, strict=True):
        assert tuple(dims.evaluate(d, env) for d in s.shape) == w.shape
        assert s.dtype == w.dtype
    return True


LAWS = [
    abstract_agrees_with_reference,
    compiled_agrees_with_reference,
    staged_program_is_well_typed,
    batching_agrees_with_a_loop,
]
DERIVATIVE_LAWS = [jvp_agrees_with_differences, transpose_passes_the_dot_test]
