"""Kernels lowered to Triton: verified, interpreted from their IR, and compared with what jax hands to XLA."""

from __future__ import annotations

import base64
import functools
import json
import re
from pathlib import Path

import numpy as np
import pytest

import laws
import pallas_cases
import sagax
import sagax.numpy as snp
import triton_cases
from sagax import export, lax
from sagax._src import xla
from sagax._src.primitives.unsupported import UnsupportedError
from sagax.experimental import pallas as pl
from sagax.experimental.pallas import ops
from sagax.experimental.pallas import triton as plt
from sagax.experimental.pallas._call import pallas_call_p
from sagax.experimental.pallas._triton import program
from sagax.experimental.pallas._triton.call import verified
from sagax.experimental.pallas.ops.gpu.attention import BlockSizes
from triton_interpreter import Interpreter

pytestmark = pytest.mark.skipif(
    xla.engine_version < (0, 11), reason="the Triton of jaxlib before 0.11 is not supported"
)

f32 = np.float32
Out = sagax.ShapeDtypeStruct
CASES = triton_cases.cases(sagax, pl, plt) if xla.engine_version >= (0, 11) else {}
RECORDED = json.loads((Path(__file__).parents[1] / "data" / "pallas_triton.json").read_text())


def numbers(*shape, seed=0):
    return snp.asarray(np.random.default_rng(seed).normal(size=shape).astype(f32))


@pytest.fixture
def on_triton(monkeypatch):
    """Let kernels that are called eagerly run by their Triton IR; return a list that gets each."""
    ran = []

    def run(*args, jaxpr, kernel):
        found, code = verified(kernel)
        outs = [(m.array_aval.shape, m.array_aval.dtype) for m in kernel.outputs]
        first = kernel.n_captured + len(kernel.prefetched)
        aliases = [(first + i, o) for i, o in kernel.aliases]
        interpreter = Interpreter(code)
        ran.append((found, interpreter))
        return list(
            map(
                snp.asarray, interpreter.run(found.grid, list(map(np.asarray, args)), outs, aliases)
            )
        )

    monkeypatch.setattr(pallas_call_p, "impl", run)
    return ran


def lowered_text(f, *args):
    return sagax.jit(f).trace(*args).lower(lowering_platforms=("cuda",)).as_text()


def kernel_of(f, *args):
    (eqn,) = [e for e in sagax.make_jaxpr(f)(*args).jaxpr.eqns if e.primitive is pallas_call_p]
    return eqn.params["kernel"]


def refused(f, *args):
    """Return the message of the error of lowering for CUDA."""
    with pytest.raises(UnsupportedError) as caught:
        lowered_text(f, *args)
    return str(caught.value)


# Beside jax ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", RECORDED)
def test_results_of_the_cases(on_triton, name):
    case = CASES[name]
    found = case.function(*case.operands)
    assert len(on_triton) == 1
    for x, want in zip(found if isinstance(found, tuple) else (found,), case.expected, strict=True):
        np.testing.assert_allclose(x, want, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("name", RECORDED)
def test_jaxs_own_kernels_give_these_results_in_the_interpreter(name):
    # so that the interpreter is not only right about what sagax writes
    case, recorded = CASES[name], RECORDED[name]
    outs = [(x.shape, x.dtype) for x in case.expected]
    grid = [recorded[f"grid_{axis}"] for axis in "xyz"]
    aliases = [(int(i), o) for o, i in enumerate(recorded["aliases"])]
    interpreter = Interpreter(base64.b64decode(recorded["code"]))
    for x, want in zip(
        interpreter.run(grid, case.operands, outs, aliases), case.expected, strict=True
    ):
        np.testing.assert_allclose(x, want, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("name", RECORDED)
def test_launch_and_structure_are_those_of_jax(name):
    case, recorded = CASES[name], RECORDED[name]
    found, code = verified(kernel_of(case.function, *case.operands))
    assert list(found.grid) == [recorded[f"grid_{axis}"] for axis in "xyz"]
    assert (found.num_warps, found.num_stages) == (recorded["num_warps"], recorded["num_stages"])
    module = xla.triton.parse(code)
    (function,) = module.body.operations
    arguments = [str(a.type) for a in function.regions[0].blocks[0].arguments]
    assert arguments == [
        a.replace("i1", "i8") for a in recorded["arguments"]
    ]  # bytes hold booleans
    counts = {}
    for line in found.text.splitlines():
        for op in re.findall(r'"([a-z]+\.[a-z_]+)"\(', line):
            counts[op] = counts.get(op, 0) + 1
    for op in (
        "tt.load",
        "tt.store",
        "tt.dot",
        "tt.reduce",
        "tt.scan",
        "tt.atomic_rmw",
        "scf.for",
        "scf.while",
        "scf.if",
    ):
        assert counts.get(op, 0) == recorded["operations"].get(op, 0), op


def test_custom_call_has_the_attributes_that_xla_reads():
    case, recorded = CASES["histogram"], RECORDED["histogram"]
    text = lowered_text(case.function, *case.operands)
    (line,) = [x for x in text.splitlines() if "custom_call" in x]
    assert f"@{recorded['target']}(%arg0, %arg1, %arg2)" in line
    assert 'backend_config = ""' in line
    config = line.partition("mhlo.backend_config = {")[2]
    for key in recorded["config"]:
        assert re.search(rf"\b{key} = ", config), key
    assert "operand_index = 2" in line
    assert "API_VERSION_TYPED_FFI" in xla.mlir.hlo_text(text)
    assert "operand_layouts" in line


# Random kernels --------------------------------------------------------------------------------------------


def test_random_kernels_give_what_jax_interprets(on_triton, oracle_data):
    want = oracle_data("pallas_kernels")
    compared = 0
    for seed in range(0, pallas_cases.COUNT, 2):
        case = pallas_cases.Case(seed)
        if case.alias or any(b & (b - 1) for b in case.blocks):
            continue
        try:
            found = case.run(sagax, pl, False)
        except UnsupportedError as error:  # windows of three elements
            assert "must be a power of two" in str(error)
            continue
        except AssertionError as error:
            assert "access out of bounds" in str(error)
            continue
        np.testing.assert_array_equal(found, want[str(seed)], str(seed))
        compared += 1
    assert compared >= 15


# Arithmetic ------------------------------------------------------------------------------------------------

FLOAT_FUNCTIONS = {
    "sqrt rsqrt cbrt": (lax.sqrt, lax.rsqrt, lax.cbrt),
    "exponential": (lax.exp, lax.exp2, lax.expm1, lax.log, lax.log1p, lax.logistic),
    "trigonometric": (lax.sin, lax.cos, lax.tan, lax.asin, lax.acos, lax.atan),
    "hyperbolic": (lax.sinh, lax.cosh, lax.tanh, lax.asinh, lambda x: lax.acosh(x + 1), lax.atanh),
    "special": (lax.erf, lax.erfc, lax.erf_inv, lax.lgamma, lax.bessel_i0e, lax.bessel_i1e),
    "rounding": (lax.floor, lax.ceil, lambda x: lax.round(x * 4), lambda x: snp.round(x * 4), snp.trunc),
    "two operands": (
        lambda x: lax.pow(x, x * 2), lambda x: lax.atan2(x - 0.5, x), lambda x: x % 0.3, lambda x: x // 0.3,
        lambda x: lax.rem(x, x * x), lambda x: lax.nextafter(x, x * 2), lambda x: snp.maximum(x, 0.5), snp.square,
    ),
    "signs": (lambda x: -x, snp.abs, lambda x: snp.sign(x - 0.5), lambda x: x**3, lambda x: x**-2, lambda x: 1 / x),
    "selection": (
        lambda x: snp.where(x > 0.5, x, 0.0), lambda x: snp.clip(x, 0.2, 0.7), lambda x: snp.isfinite(1 / (x - x)) + x,
        lambda x: snp.isnan(x - x) + x, lambda x: lax.select_n((x * 3).astype(int), x, x + 1, x + 2),
    ),
    "conversions": (
        lambda x: (x * 9).astype(np.int32) + x, lambda x: (x * 9).astype(np.uint8) + x, lambda x: (x > 0.5) + x,
        lambda x: x.astype(bool) + x, lambda x: x.astype(snp.bfloat16).astype(f32), lambda x: x.astype(snp.float16).astype(f32),
        lambda x: (x * 1e10).astype(np.int32).astype(f32), lambda x: (x * snp.nan).astype(np.int32) + x,
        lambda x: x.astype(snp.float8_e4m3fn).astype(f32), lambda x: x.view(np.int32).astype(f32),
    ),
    "nn": (sagax.nn.gelu, sagax.nn.silu, sagax.nn.softplus, sagax.nn.relu6, sagax.nn.mish, sagax.nn.softmax),
    "slopes": tuple([
        lambda x, f=f: sagax.jvp(f, (x * 8,), (x,))[1]
        for f in (snp.tanh, lax.erf, lax.erfc, lax.logistic, sagax.nn.log_softmax, lambda x: sagax.nn.gelu(x, approximate=False))
    ]),
}  # fmt: skip


def elementwise(f, x):
    def kernel(x_ref, o_ref):
        o_ref[...] = f(x_ref[...])

    out = sagax.eval_shape(f, x)
    return pl.pallas_call(kernel, Out(out.shape, out.dtype))(x)


@pytest.mark.parametrize("name", FLOAT_FUNCTIONS)
@pytest.mark.own_promotion("dtype")
def test_float_functions(on_triton, name):
    x = snp.asarray(np.random.default_rng(3).uniform(0.05, 0.95, 16).astype(f32))
    for f in FLOAT_FUNCTIONS[name]:
        np.testing.assert_allclose(elementwise(f, x), f(x), rtol=1e-5, atol=1e-6)
    assert len(on_triton) == len(FLOAT_FUNCTIONS[name])


def test_elementwise_primitives_have_a_form_in_triton_or_none_by_choice():
    """Others are series and iterations, or take complex numbers."""
    without = {
        p.name
        for p in laws.all_primitives()
        if p.elementwise and p not in program._RULES and p.composite_rule is None
    }
    assert without == {
        "beta_density", "digamma", "gamma", "gamma_density", "igamma", "igamma_grad_a", "igammac", "pochhammer", "polygamma",
        "random_gamma_curvature", "random_gamma_grad", "regularized_incomplete_beta", "zeta",
        "complex", "conj", "imag", "mulhi", "reduce_precision",
    }  # fmt: skip


@pytest.mark.parametrize("dtype", [snp.bfloat16, snp.float16])
def test_short_floats(on_triton, dtype):
    x = numbers(16).astype(dtype)
    for f in (
        snp.exp,
        snp.tanh,
        lambda v: v * v + v,
        lambda v: v / (v + 3),
        lambda v: v.sum() + v,
        sagax.nn.sigmoid,
    ):
        found, want = elementwise(f, x), f(x)
        assert found.dtype == dtype
        np.testing.assert_allclose(found.astype(f32), want.astype(f32), rtol=0.02, atol=0.02)


@pytest.mark.parametrize("dtype", [np.int32, np.uint32, np.int8, np.uint8])
@pytest.mark.own_promotion("dtype")
def test_integers(on_triton, dtype):
    x = snp.asarray(np.random.default_rng(1).integers(1, 100, 16).astype(dtype))
    y = x[::-1]
    for f in (
        lambda v: v + y, lambda v: v * y, lambda v: v // y, lambda v: v % y, lambda v: lax.div(v, y), lambda v: lax.rem(v, y),
        lambda v: v - y, lambda v: snp.maximum(v, y), lambda v: snp.minimum(v, y), lambda v: v & y, lambda v: v | y,
        lambda v: v ^ y, lambda v: ~v, lambda v: v << 2, lambda v: v >> 2, lambda v: v << 40, lambda v: snp.where(v < y, v, y),
        lax.population_count, lax.clz, snp.sign, snp.abs, lambda v: v.sum() + v, lambda v: v.max() + v, lambda v: snp.argmax(v) + v,
        lambda v: snp.cumsum(v), lambda v: (v > y).any() | (v == y).all(), lambda v: v.prod() + v,
        lambda v: lax.shift_right_logical(v, y),
    ):  # fmt: skip
        np.testing.assert_array_equal(elementwise(f, x), f(x))


def test_reductions_and_scans(on_triton):
    x = numbers(4, 8, 2)
    nan = x.at[1, 2, 0].set(snp.nan)
    for f in (
        lambda v: v.sum((0, 2)), lambda v: v.max((1, 2)), lambda v: v.mean(1), lambda v: v.var(0), lambda v: v.prod(2),
        lambda v: snp.argmin(v, 1), lambda v: snp.cumsum(v, 0), lambda v: lax.cumsum(v, 1, reverse=True), lambda v: lax.cummax(v, 1),
        lambda v: lax.cumprod(v, 1), lambda v: lax.cummin(v, 2, reverse=True), lambda v: (v > 0).any(1), lambda v: (v > -9).all(),
        lambda v: sagax.nn.softmax(v, 1), lambda v: sagax.nn.logsumexp(v, (0, 1)), lambda v: snp.linalg.norm(v, axis=1),
    ):  # fmt: skip
        np.testing.assert_allclose(elementwise(f, x), f(x), rtol=1e-5, atol=1e-5)
    for f in (lambda v: v.max(1), lambda v: snp.argmax(v, 1), lambda v: snp.maximum(v, 0.0)):
        np.testing.assert_array_equal(elementwise(f, nan), f(nan))


@pytest.mark.own_promotion("dtype")
def test_shapes(on_triton):
    x = numbers(4, 8)
    for f in (
        lambda v: v.T, lambda v: v.reshape(2, 16), lambda v: v[:, None, :] + v[:, :, None], lambda v: v[::-1], lambda v: v[:, 4:],
        lambda v: v[1:3, ::2], lambda v: v[2], lambda v: v[1, 3], lambda v: snp.concatenate([v, v * 2], 0),
        lambda v: snp.concatenate([v[:, :4], v[:, 4:] + 1], 1), lambda v: snp.broadcast_to(v[:1], (4, 8)), lambda v: v.ravel()[:16],
        lambda v: lax.dynamic_slice(v, (v[0, 0].astype(int) + 1, 3), (2, 4)), lambda v: v.at[1:3, 2:4].set(0.5),
        lambda v: lax.dynamic_update_slice(v, v[:1, :2], (2, 7)), lambda v: snp.stack([v, v]), lambda v: snp.squeeze(v[:1]),
        lambda v: snp.arange(8) + v, lambda v: snp.tril(v), lambda v: snp.roll(v, 4, 1), lambda v: (v > 0)[:, ::-1],
        lambda v: v.sum().reshape(1, 1) + v,
    ):  # fmt: skip
        np.testing.assert_allclose(elementwise(f, x), f(x), rtol=1e-6)


@pytest.mark.parametrize(
    "shapes",
    [
        ((16, 32), (32, 16)),
        ((4, 8), (8, 2)),
        ((16, 1), (1, 16)),
        ((2, 4, 8), (2, 8, 4)),
        ((8,), (8,)),
    ],
)
def test_matrix_products(on_triton, shapes):
    x, y = numbers(*shapes[0]), numbers(*shapes[1], seed=1)

    def kernel(x_ref, y_ref, o_ref):
        o_ref[...] = snp.matmul(x_ref[...], y_ref[...])

    found = pl.pallas_call(kernel, sagax.eval_shape(snp.matmul, x, y))(x, y)
    np.testing.assert_allclose(found, np.matmul(x, y), rtol=1e-4, atol=1e-5)
    assert ("tt.dot" in on_triton[0][0].text) == (shapes[0] == (16, 32))


def test_precision_of_products():
    x = snp.ones((16, 16))
    for precision, number in (("default", 0), ("high", 1), ("highest", 2)):

        def kernel(x_ref, o_ref, precision=precision):
            o_ref[...] = snp.dot(x_ref[...], x_ref[...], precision=precision)

        found, _ = verified(kernel_of(pl.pallas_call(kernel, Out((16, 16), f32)), x))
        assert f"inputPrecision = {number} : i32" in found.text


def test_products_of_short_dtypes(on_triton):
    x = snp.asarray(np.random.default_rng(0).integers(-3, 4, (16, 16)))
    for dtype, out in ((snp.bfloat16, f32), (np.int8, np.int32), (snp.float16, snp.float16)):
        found = elementwise(
            lambda v, out=out: snp.dot(v, v.T, preferred_element_type=out), x.astype(dtype)
        )
        assert found.dtype == out
        np.testing.assert_array_equal(found, x @ x.T)
        assert '"tt.dot"' in on_triton[-1][0].text


# References ------------------------------------------------------------------------------------------------


READS = (
    lambda r: r[2], lambda r: r[pl.ds(2, 4), :], lambda r: r[:, pl.ds(0, 8, 2)], lambda r: r[1, pl.ds(3, 8)],
    lambda r: r[pl.program_id(0) + 3, :], lambda r: r[snp.arange(4), 3], lambda r: r[snp.arange(4), snp.arange(4) * 2],
    lambda r: r[snp.arange(4)[:, None], snp.arange(2)[None]], lambda r: r[::2, ::4], lambda r: r.at[2:4].reshape(4, 8)[...],
    lambda r: r.at[4:].at[1, pl.ds(2, 2)][...], lambda r: r[5, 7], lambda r: r[snp.arange(2)],
    lambda r: plt.load(r.at[pl.ds(6, 4), :], mask=snp.arange(4)[:, None] < 2, other=0.5),
    lambda r: plt.load(r.at[snp.arange(4) + 6, 1], mask=snp.arange(4) < 2, other=7.0), lambda r: r[...].T[:, 2:4],
)  # fmt: skip


@pytest.mark.parametrize("i", range(len(READS)))
def test_reads_of_references(on_triton, i):
    x, shapes = numbers(8, 16), []

    def probe(x_ref, o_ref):
        shapes.append(READS[i](x_ref).shape)

    sagax.make_jaxpr(pl.pallas_call(probe, Out((1,), f32), grid=(1,)))(x)

    def kernel(x_ref, o_ref):
        o_ref[...] = READS[i](x_ref)

    f = pl.pallas_call(kernel, Out(shapes[0], f32), grid=(1,))
    np.testing.assert_array_equal(f(x), sagax.jit(f)(x))
    assert len(on_triton) == 1


@pytest.mark.own_promotion("dtype")
def test_writes_of_references(on_triton):
    x = numbers(4, 8)

    def kernel(x_ref, o_ref, p_ref, q_ref):
        o_ref[...] = snp.zeros((8, 8))
        o_ref[pl.ds(2, 4), :] = x_ref[...]
        o_ref[0, pl.ds(1, 2)] = x_ref[0, pl.ds(0, 2)]
        o_ref[7] += x_ref[3] * 2
        o_ref[snp.arange(2) + 6, snp.arange(2) * 3] = snp.arange(2) + 5.0
        plt.store(o_ref.at[pl.ds(6, 4), :], x_ref[...], mask=snp.arange(4)[:, None] < 1)
        p_ref[...] = (x_ref[...] > 0).T
        before = pl.triton.atomic_xchg(q_ref, (0,), x_ref[0, 0])
        q_ref[1] = before

    outs = Out((8, 8), f32), Out((8, 4), bool), Out((2,), f32)
    o, p, q = pl.pallas_call(kernel, outs, compiler_params=plt.CompilerParams())(x)
    want = np.zeros((8, 8), f32)
    want[2:6] = x
    want[0, 1:3] = x[0, :2]
    want[7] += np.asarray(x[3]) * 2
    want[[6, 7], [0, 3]] = [5, 6]
    want[6] = x[0]
    np.testing.assert_allclose(o, want)
    np.testing.assert_array_equal(p, np.asarray(x).T > 0)
    np.testing.assert_array_equal(q, [x[0, 0], np.nan])


@pytest.mark.parametrize("dtype", [f32, np.int32, np.uint32])
def test_atomics(on_triton, dtype):
    x = snp.asarray(np.random.default_rng(0).integers(-50, 50, 64).astype(np.int32)).astype(dtype)
    start = snp.full((2,), 3, dtype)
    names = ("add", "max", "min") if dtype is f32 else ("add", "max", "min", "and", "or", "xor")
    at = snp.arange(16) % 2
    for name in names:

        def kernel(x_ref, _, o_ref, name=name):
            getattr(plt, f"atomic_{name}")(o_ref, (snp.arange(16) % 2,), x_ref[...])

        block = pl.BlockSpec((16,), lambda i: (i,))
        whole = pl.BlockSpec((2,), lambda i: (0,))
        found = pl.pallas_call(
            kernel, Out((2,), dtype), grid=(4,), in_specs=[block, whole], out_specs=whole,
            input_output_aliases={1: 0}, compiler_params=plt.CompilerParams(),
        )(x, start)  # fmt: skip
        ufunc = {
            "add": np.add,
            "max": np.maximum,
            "min": np.minimum,
            "and": np.bitwise_and,
            "or": np.bitwise_or,
            "xor": np.bitwise_xor,
        }[name]
        want = np.array(start)
        ufunc.at(want, np.tile(at, 4), np.asarray(x))
        np.testing.assert_array_equal(found, want)
        assert on_triton[-1][0].grid == (4, 1, 1)


def test_compare_and_swap(on_triton):
    def kernel(_, o_ref):
        o_ref[1] = plt.atomic_cas(o_ref.at[0], 3, 5)
        o_ref[2] = plt.atomic_cas(o_ref.at[0], 3, 7)

    found = pl.pallas_call(kernel, Out((4,), np.int32), input_output_aliases={0: 0})(
        snp.array([3, 0, 0, 0])
    )
    assert found.tolist() == [5, 3, 5, 0]


# Grids -----------------------------------------------------------------------------------------------------


def test_blocks_of_all_kinds(on_triton):
    x = numbers(10, 6)

    def total(x_ref, o_ref):
        o_ref[...] = snp.where(snp.isnan(x_ref[...]), 0.0, x_ref[...]).sum(keepdims=True)

    def run(in_spec, n):
        out = pl.BlockSpec((1, 1), lambda i: (i, 0))
        f = pl.pallas_call(total, Out((n, 1), f32), grid=(n,), in_specs=[in_spec], out_specs=out)
        found = f(x)
        assert on_triton[-1][0].grid == (n, 1, 1)
        np.testing.assert_allclose(found, sagax.jit(f)(x), rtol=1e-6)
        return np.asarray(found)[:, 0]

    want = np.asarray(x)
    parts = [want[i : i + 4].sum() for i in range(0, 10, 4)]
    np.testing.assert_allclose(run(pl.BlockSpec((4, 8), lambda i: (i, 0)), 3), parts, rtol=1e-5)
    padded = np.pad(want, ((1, 1), (0, 0)))
    spec = pl.BlockSpec((pl.Element(4, (1, 1)), pl.Element(2)), lambda i: (4 * i, 3))
    np.testing.assert_allclose(
        run(spec, 3), [padded[4 * i : 4 * i + 4, 3:5].sum() for i in range(3)], rtol=1e-5
    )
    spec = pl.BlockSpec((pl.BoundedSlice(4), 2), lambda i: (pl.ds(2 * i, i + 1), 1))
    np.testing.assert_allclose(
        run(spec, 3), [want[2 * i : 3 * i + 1, 2:4].sum() for i in range(3)], rtol=1e-5
    )


def matmul_in_the_grid(block, **options):
    def kernel(x_ref, y_ref, o_ref, acc_ref):
        @pl.when(pl.program_id(2) == 0)
        def _():
            acc_ref[...] = snp.zeros_like(acc_ref)

        acc_ref[...] += x_ref[...] @ y_ref[...]

        @pl.when(pl.program_id(2) == pl.num_programs(2) - 1)
        def _():
            o_ref[...] = acc_ref[...]

    return pl.pallas_call(
        kernel, Out((32, 32), f32), grid=(2, 2, 4), scratch_shapes=[pl.ANY((block, block), f32)],
        in_specs=[pl.BlockSpec((16, 16), lambda i, j, k: (i, k)), pl.BlockSpec((16, 16), lambda i, j, k: (k, j))],
        out_specs=pl.BlockSpec((16, 16), lambda i, j, k: (i, j)), **options,
    )  # fmt: skip


def test_scratch_memory_stays_in_registers_over_a_loop(on_triton):
    x, y = numbers(32, 64), numbers(64, 32, seed=1)
    np.testing.assert_allclose(matmul_in_the_grid(16)(x, y), np.matmul(x, y), rtol=1e-4, atol=1e-4)
    ((found, _),) = on_triton
    assert found.grid == (2, 2, 1)  # the third axis of the grid is a loop
    assert (
        found.text.count('"scf.for"'),
        found.text.count('"scf.if"'),
        found.text.count('"tt.store"'),
    ) == (1, 0, 1)


def test_programs_that_depend_on_others_run_in_order(on_triton):
    x = numbers(64, 16)

    def kernel(x_ref, o_ref, last_ref):
        @pl.when(pl.program_id(0) == 0)
        def _():
            last_ref[...] = snp.zeros_like(last_ref)

        total = snp.cumsum(x_ref[...], 0) + last_ref[...]
        o_ref[...] = total
        last_ref[...] = total[-1:]

    spec = pl.BlockSpec((16, 16), lambda i: (i, 0))
    f = pl.pallas_call(
        kernel, x, grid=(4,), in_specs=[spec], out_specs=spec, scratch_shapes=[pl.ANY((1, 16), f32)]
    )
    np.testing.assert_allclose(f(x), np.cumsum(x, 0), rtol=1e-4, atol=1e-4)
    assert on_triton[0][0].grid == (1, 1, 1)


def test_an_output_block_of_many_programs_is_written_once(on_triton):
    x = numbers(64, 16)

    def kernel(x_ref, o_ref):
        @pl.when(pl.program_id(0) == 0)
        def _():
            o_ref[...] = snp.zeros_like(o_ref)

        o_ref[...] += x_ref[...].sum(0, keepdims=True)

    block = pl.BlockSpec((16, 16), lambda i: (i, 0))
    out = pl.BlockSpec((1, 16), lambda i: (0, 0))
    found = pl.pallas_call(kernel, Out((1, 16), f32), grid=(4,), in_specs=[block], out_specs=out)(x)
    np.testing.assert_allclose(found[0], np.sum(x, 0), rtol=1e-4, atol=1e-5)
    assert on_triton[0][0].text.count('"tt.store"') == 1


def test_reads_wait_for_writes_of_other_threads():
    def kernel(x_ref, o_ref):
        o_ref[...] = x_ref[...]
        o_ref[:8] = o_ref[8:]

    found, _ = verified(kernel_of(pl.pallas_call(kernel, Out((16,), f32)), snp.ones(16)))
    assert (
        found.text.index('"tt.store"')
        < found.text.index('"gpu.barrier"')
        < found.text.rindex('"tt.load"')
    )


def test_declared_parallel_axes_are_launched(on_triton):
    def kernel(x_ref, o_ref):  # the whole output: nothing tells that programs are independent
        at = pl.ds(pl.program_id(0) * 4, 4)
        o_ref[at] = x_ref[at] * 2

    x = numbers(16)
    np.testing.assert_allclose(pl.pallas_call(kernel, x, grid=(4,))(x), x * 2)
    assert on_triton[-1][0].grid == (1, 1, 1)
    f = pl.pallas_call(
        kernel, x, grid=(4,), compiler_params=plt.CompilerParams(num_warps=2, num_stages=5)
    )
    np.testing.assert_allclose(f(x), x * 2)
    found, _ = on_triton[-1]
    assert (found.grid, found.num_warps, found.num_stages) == ((4, 1, 1), 2, 5)
    f = pl.pallas_call(kernel, x, grid=(4,), compiler_params={"triton": {"num_warps": 8}})
    np.testing.assert_allclose(f(x), x * 2)
    assert on_triton[-1][0].num_warps == 8


def test_long_axes_are_counted_along_the_first_axis_of_the_launch():
    def kernel(x_ref, o_ref):
        o_ref[...] = x_ref[...]

    spec = pl.BlockSpec((None, None, 1), lambda i, j: (i, j, 0))
    x = Out((2, 70_000, 1), f32)
    found, _ = verified(
        kernel_of(pl.pallas_call(kernel, x, grid=(2, 70_000), in_specs=[spec], out_specs=spec), x)
    )
    assert found.grid == (140_000, 1, 1)


def test_offsets_beyond_two_gigabytes_take_64_bits():
    def kernel(x_ref, y_ref, o_ref):
        i = pl.program_id(0)
        o_ref[...] = x_ref[...] + y_ref[pl.ds(i, 16), 0]

    x, y = Out((1 << 32,), f32), Out((1 << 12, 1 << 21), f32)
    block = pl.BlockSpec((16,), lambda i: (i,))
    f = pl.pallas_call(
        kernel, x, grid=(1 << 28,), in_specs=[block, pl.BlockSpec()], out_specs=block
    )
    found, _ = verified(kernel_of(f, x, y))
    assert '"arith.extsi"' in found.text and "i64" in found.text
    small = pl.pallas_call(
        kernel, Out((64,), f32), grid=(4,), in_specs=[block, pl.BlockSpec()], out_specs=block
    )
    found, _ = verified(kernel_of(small, Out((64,), f32), Out((64, 4), f32)))
    assert "i64" not in found.text.replace(" : i64", "")


# Control flow and output -------------------------------------------------------------------------------------


@pytest.mark.own_promotion("dtype")
def test_loops(on_triton):
    x = numbers(8, 4)

    def rows(carry, row):
        return carry + row, carry.sum() * row

    def several(v):
        total, stacked = lax.scan(rows, snp.zeros(4), v)
        return stacked + total

    def backward(v):
        return lax.scan(rows, snp.zeros(4), v, reverse=True)[1]

    def counted(v):
        return lax.fori_loop(2, 5, lambda i, t: t + i, v)

    def limited(v):
        n = (v[0, 0] * 0).astype(int) + 3
        return lax.fori_loop(n - 2, n, lambda i, t: t * i + 1, v)

    def nested(v):
        return lax.fori_loop(
            0, 2, lambda i, t: lax.fori_loop(0, i + 1, lambda j, u: u + j + i, t), v
        )

    def open_ended(v):
        return lax.while_loop(
            lambda s: snp.abs(s[0]).max() < 50, lambda s: (s[0] * 2 + 0.5, s[1] + 1), (v, 0)
        )[0]

    for f in (several, backward, counted, limited, nested, open_ended):
        np.testing.assert_allclose(elementwise(f, x), f(x), rtol=1e-5, atol=1e-5)
    assert '"scf.while"' in on_triton[-1][0].text
    assert all('"scf.while"' not in found.text for found, _ in on_triton[:-1])


def test_prints(on_triton):
    def kernel(x_ref, o_ref):
        pl.debug_print("first: {}", x_ref[0])
        pl.debug_print("here")
        o_ref[...] = x_ref[...]

    pl.pallas_call(kernel, Out((4,), f32))(snp.arange(4.0) + 7)
    printed = [
        (text.strip(), [float(x) for x in values]) for text, values in on_triton[0][1].printed
    ]
    assert printed == [("first:", [7.0]), ("here", [])]
    f = pl.pallas_call(kernel, Out((4,), f32))
    text = lowered_text(lambda x: f(f(x)), snp.ones(4))
    assert len(re.findall(r"custom_call @__gpu\$xla.gpu.triton", text)) == 2


def test_operations_of_triton(on_triton):
    x, y = numbers(16, 16), numbers(16, 16, seed=1)

    def kernel(x_ref, y_ref, o_ref):
        plt.debug_barrier()
        o_ref[...] = plt.dot(
            x_ref[...], y_ref[...], trans_b=True, allow_tf32=False
        ) + plt.approx_tanh(x_ref[...])

    found = pl.pallas_call(kernel, x)(x, y)
    np.testing.assert_allclose(found, np.matmul(x, y.T) + np.tanh(x), rtol=1e-4, atol=1e-5)
    text = on_triton[0][0].text
    assert "tanh.approx.f32" in text and "inputPrecision = 2" in text and '"gpu.barrier"' in text


# Transformations ---------------------------------------------------------------------------------------------


def test_vmap_adds_an_axis_to_the_grid(on_triton):
    x = numbers(3, 2, 16, 8)
    found = sagax.vmap(sagax.vmap(ops.softmax))(x)
    np.testing.assert_allclose(found, sagax.nn.softmax(x), rtol=1e-5)
    assert on_triton[-1][0].grid == (1, 6, 1) or on_triton[-1][0].grid == (1, 3, 2)
    q, k = numbers(2, 1, 16, 1, 16), numbers(1, 16, 1, 16)
    found = sagax.vmap(lambda q: ops.mha(q, k, k))(q)
    want = [ops.mha_reference(one, k, k) for one in q]
    np.testing.assert_allclose(found, np.stack(want), rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize(
    "options",
    [{}, {"causal": True}, {"segment_ids": snp.arange(32)[None] // 16}],
    ids=["all", "causal", "segments"],
)
def test_attention_and_its_derivatives(on_triton, options):
    q, k, v, g = (numbers(1, 32, 1, 16, seed=s) for s in range(4))
    sizes = BlockSizes(16, 16, 16, 16, 16, 16)

    def run(impl):
        out, pull = sagax.vjp(
            lambda q, k, v: ops.mha(
                q, k, v, sm_scale=0.3, block_sizes=sizes, backward_pass_impl=impl, **options
            ),
            q,
            k,
            v,
        )
        return [out, *pull(g)]

    def plain():
        out, pull = sagax.vjp(
            lambda q, k, v: ops.mha_reference(q, k, v, sm_scale=0.3, **options), q, k, v
        )
        return [out, *pull(g)]

    for x, want in zip(run("triton"), plain(), strict=True):
        np.testing.assert_allclose(x, want, rtol=1e-4, atol=1e-5)
    names = [found.name for found, _ in on_triton]
    assert names == ["mha", "mha_backward_keys", "mha_backward_queries"]
    assert all('"tt.dot"' in found.text for found, _ in on_triton)


def test_ready_made_kernels(on_triton):
    x, w = numbers(16, 32), numbers(32, seed=1)
    np.testing.assert_allclose(ops.softmax(x), sagax.nn.softmax(x), rtol=1e-5)
    mean, var = np.mean(x, -1, keepdims=True), np.var(x, -1, keepdims=True)
    want = (x - mean) / np.sqrt(var + 1e-5) * w + 1
    np.testing.assert_allclose(ops.layer_norm(x, w, snp.ones(32)), want, rtol=1e-4, atol=1e-5)
    want = x / np.sqrt(np.mean(np.square(x), -1, keepdims=True) + 1e-5) * w
    np.testing.assert_allclose(ops.rms_norm(x, w), want, rtol=1e-4, atol=1e-5)
    q, pages = numbers(2, 4, 16), numbers(2, 6, 8, 16, seed=2)
    tables, lengths = snp.array([[0, 3, 1], [2, 4, 0]]), snp.array([5, 20])
    found = ops.paged_attention(q, pages, pages, tables, lengths)
    for b in range(2):
        for h in range(4):
            keys = np.concatenate([pages[h // 2, p] for p in tables[b]])[: lengths[b]]
            scores = keys @ np.asarray(q[b, h])
            p = np.exp(scores - scores.max())
            np.testing.assert_allclose(found[b, h], p @ keys / p.sum(), rtol=1e-4, atol=1e-5)
    assert [f.grid for f, _ in on_triton] == [(1, 1, 1)] * 3 + [(2, 2, 1)]


@pytest.mark.own_promotion("dtype")
@pytest.mark.parametrize("check", [test_loops, test_ready_made_kernels])
def test_indices_of_64_bits(check, on_triton):
    with sagax.enable_x64(True):
        check(on_triton)


@pytest.mark.parametrize("impl", ["triton", "xla"])
def test_attention_of_float32_where_floats_are_wide(impl):
    q, k, v, g = (numbers(1, 32, 2, 16, seed=i) for i in range(4))

    def gradients():
        sizes = BlockSizes(16, 16, 16, 16, 16, 16)
        mha = functools.partial(ops.mha, block_sizes=sizes, backward_pass_impl=impl)
        out, pull = sagax.vjp(lambda *x: mha(*x, sm_scale=0.3, causal=True), q, k, v)
        return [out, *pull(g)]

    narrow = gradients()
    with sagax.enable_x64(True):
        wide = gradients()
    for x, y in zip(wide, narrow, strict=True):
        assert x.dtype == "float32"
        np.testing.assert_allclose(x, y, rtol=1e-5, atol=1e-6)


def test_modules_for_cuda_call_kernels_and_other_platforms_do_not():
    x = snp.ones((64, 32))

    def f(x):
        return (
            sagax.grad(lambda x: ops.mha(x, x, x).sum())(x[None, :, None])
            + ops.softmax(x)[None, :, None]
        )

    text = lowered_text(f, x)
    assert len(re.findall(r"custom_call @__gpu\$xla.gpu.triton", text)) == 4
    assert "custom_call" not in sagax.jit(f).lower(x).as_text()
    xla.mlir.verify_module(text)


def test_pruned_results_stay_results_of_the_call():
    def kernel(x_ref, o_ref, p_ref):
        o_ref[...] = x_ref[...]
        p_ref[...] = x_ref[...] * 2

    text = lowered_text(lambda x: pl.pallas_call(kernel, (x, x))(x)[1], snp.ones(16))
    assert re.search(r"%\d+:2 = stablehlo.custom_call", text)


def test_export_for_cuda():
    x = snp.ones((64, 32))
    allowed = [export.DisabledSafetyCheck.custom_call(xla.triton.TARGET)]
    both = export.export(
        sagax.jit(ops.softmax), platforms=("cpu", "cuda"), disabled_checks=allowed
    )(x)
    again = export.deserialize(both.serialize())
    np.testing.assert_allclose(
        again.call(numbers(64, 32)), sagax.nn.softmax(numbers(64, 32)), rtol=1e-5
    )
    one = export.export(sagax.jit(ops.softmax), platforms=("cuda",), disabled_checks=allowed)(x)
    assert xla.triton.TARGET in one.mlir_module()
    with pytest.raises(sagax.errors.ArgumentValueError, match="compatibility"):
        export.export(sagax.jit(ops.softmax), platforms=("cuda",))(x)


def test_interpreted_kernels_and_those_for_tpus_go_through_xla():
    spec = pl.BlockSpec((3, 5), lambda i: (i, 0))

    def f(**options):
        def kernel(x_ref, o_ref):
            o_ref[...] = x_ref[...] * 2

        return pl.pallas_call(
            kernel, Out((6, 5), f32), grid=(2,), in_specs=[spec], out_specs=spec, **options
        )

    for options in ({"interpret": True}, {"compiler_params": pl.tpu.CompilerParams()}):
        assert "custom_call" not in lowered_text(f(**options), snp.ones((6, 5)))


# Errors ------------------------------------------------------------------------------------------------------


def test_shapes_that_are_no_powers_of_two():
    spec = pl.BlockSpec((64, 100), lambda i: (i, 0))

    def kernel(x_ref, o_ref):
        o_ref[...] = x_ref[...]

    text = refused(
        pl.pallas_call(kernel, Out((256, 100), f32), grid=(4,), in_specs=[spec], out_specs=spec),
        snp.ones((256, 100)),
    )
    assert (
        "the block of args[0]" in text
        and "(64, 100)" in text
        and "power of two" in text
        and "mask" in text
    )

    def inner(x_ref, o_ref):
        o_ref[...] = snp.broadcast_to(snp.arange(6).sum(), (8,)) + x_ref[...]

    assert "iota" in refused(pl.pallas_call(inner, Out((8,), np.int32)), snp.ones(8, int))
    whole = pl.pallas_call(lambda x_ref, o_ref: o_ref.__setitem__(0, x_ref[0]), Out((3,), f32))
    assert "custom_call" in lowered_text(whole, snp.ones(3))  # references may have any shape


@pytest.mark.parametrize(
    "body, message",
    [
        (lambda x: snp.sort(x), "sort"),
        (lambda x: snp.concatenate([x[:8], x[:4], x[:4]]), "concatenated"),
        (lambda x: x.astype(snp.complex64).real, "complex64"),
        (lambda x: snp.fft.fft(x).real, "Triton"),
    ],
)
def test_operations_without_a_form_in_triton(body, message):
    def kernel(x_ref, o_ref):
        o_ref[...] = body(x_ref[...])

    text = refused(pl.pallas_call(kernel, Out((16,), f32)), snp.ones(16))
    assert message in text
    assert "test_pallas_triton.py" in text  # the line
    assert "interpret=True" in text or "o_ref" in text


def test_other_things_that_triton_cannot_do():
    def kernel(x_ref, o_ref):
        o_ref[...] = x_ref[...]

    def atomic(x_ref, o_ref):
        plt.atomic_add(o_ref, (snp.arange(16),), x_ref[...])

    assert "atomic_add of int8" in refused(
        pl.pallas_call(atomic, Out((16,), np.int8)), snp.ones(16, np.int8)
    )
    big = pl.pallas_call(kernel, Out((2048, 1024), f32))
    assert "1048576" in refused(big, snp.ones((2048, 1024)))
    traced = sagax.jit(lambda n, x: pl.pallas_call(kernel, Out((16,), f32), grid=(n,))(x))
    with pytest.raises(UnsupportedError, match="grid of kernel is not known"):
        traced.trace(2, snp.ones(16)).lower(lowering_platforms=("cuda",))
    with pytest.raises(sagax.errors.ArgumentValueError, match="num_warps"):
        lowered_text(
            pl.pallas_call(
                kernel, Out((16,), f32), compiler_params=plt.CompilerParams(num_warps=3)
            ),
            snp.ones(16),
        )


def test_jaxlib_without_triton(monkeypatch):
    def kernel(x_ref, o_ref):
        o_ref[...] = x_ref[...]

    f = pl.pallas_call(kernel, Out((16,), f32))
    monkeypatch.setattr(xla.triton, "BEFORE_0_11", True)
    text = refused(f, snp.ones(16))
    assert "older than 0.11" in text and "interpret=True" in text
    monkeypatch.setattr(xla.triton, "BEFORE_0_11", False)
    monkeypatch.setitem(__import__("sys").modules, "jaxlib.triton.dialect", None)
    assert "without the Triton dialect" in refused(f, snp.ones(16))


def test_the_verifier_reports_what_it_refuses():
    with pytest.raises(xla.triton.TritonIRError, match="arith.addi"):
        xla.triton.parse(
            'module { %0 = "arith.constant"() <{value = 1.0 : f32}> : () -> f32\n %1 = "arith.addi"(%0, %0) : (f32, f32) -> f32 }'
        )
