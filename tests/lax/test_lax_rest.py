"""What `lax` and `sagax.ffi` have besides values: algorithms, composites, platforms, native calls, errors."""

from __future__ import annotations

import ctypes
import os
from functools import partial

import numpy as np
import pytest

import sagax
import sagax.numpy as snp
from sagax import ffi, lax
from sagax.errors import ArgumentError, ArgumentValueError, DtypeError, NotAnArrayError, ShapeError

Struct = sagax.ShapeDtypeStruct
F32 = np.float32
X = np.linspace(-1, 1, 6, dtype=F32).reshape(2, 3)


def text(f, *args):
    return sagax.jit(f).lower(*args).as_text()


# Algorithms of products ------------------------------------------------------------------------------


def test_an_algorithm_reaches_the_program():
    program = text(lambda x: lax.dot(x, x.T, precision="BF16_BF16_F32_X3"), X)
    assert "num_primitive_operations = 3" in program
    assert "lhs_precision_type = bf16" in program
    assert "algorithm" not in text(lambda x: lax.dot(x, x.T, precision="DEFAULT"), X)


def test_operands_are_stored_as_the_algorithm_wants():
    out = lax.dot(X, X.T, precision=lax.DotAlgorithmPreset.F16_F16_F16)
    assert out.dtype == F32
    half = X.astype(np.float16)
    np.testing.assert_array_equal(out, np.asarray(lax.dot(half, half.T)).astype(F32))


@pytest.mark.parametrize(
    "precision",
    ["TF32_TF32_F32", "ANY_F8_ANY_F8_F32", lax.DotAlgorithm(F32, F32, F32)],
)
def test_what_the_cpu_has_no_algorithm_for(precision):
    with pytest.raises(ValueError, match="not supported by dot_general on CPU"):
        lax.dot(X, X.T, precision=precision)


def test_derivatives_keep_the_algorithm():
    f = sagax.grad(lambda x: lax.dot(x, x.T, precision="F32_F32_F32").sum())
    assert str(sagax.make_jaxpr(f)(X)).count("precision=F32_F32_F32") == 3
    ones = np.ones((2, 2), F32)
    np.testing.assert_allclose(f(X), 2 * ones @ X, rtol=1e-6)


def test_algorithms_are_for_products_only():
    x, k = np.ones((1, 1, 5), F32), np.ones((1, 1, 3), F32)
    with pytest.raises(ArgumentValueError, match="takes no algorithm"):
        lax.conv(x, k, (1,), "SAME", precision="F32_F32_F32")
    with sagax.default_matmul_precision("F32_F32_F32"):
        assert lax.conv(x, k, (1,), "SAME").shape == (1, 1, 5)
    with pytest.raises(ArgumentValueError, match="precision must be"):
        lax.dot(X, X.T, precision="F16")


# Ragged and scaled products --------------------------------------------------------------------------


def test_errors_of_ragged_products_name_the_operand():
    experts, sizes = np.ones((3, 3, 2), F32), np.array([1, 0, 1])
    assert lax.ragged_dot(X, experts, sizes).shape == (2, 2)
    with pytest.raises(ShapeError, match="expected rhs group dimension size to be 2, got 3"):
        lax.ragged_dot(X, experts, sizes[:2])
    with pytest.raises(DtypeError, match="group_sizes"):
        lax.ragged_dot(X, experts, sizes.astype(F32))
    with pytest.raises(ShapeError, match="contracting dimensions"):
        lax.ragged_dot(X, np.ones((3, 4, 2), F32), sizes)
    with pytest.raises(NotImplementedError, match="group_offset"):
        lax.ragged_dot(X, experts, sizes, group_offset=np.array(1))
    numbers = lax.RaggedDotDimensionNumbers((((1,), (1,)), ((), ())), [0], [])
    with pytest.raises(ArgumentError, match="exactly one rhs group dimension"):
        lax.ragged_dot_general(X, experts, sizes, numbers)


@pytest.mark.parametrize(
    ("shape", "words"), [((2, 2), "divisible by its scale's dim size 2"), ((2, 3), "at least 2")]
)
def test_scales_that_do_not_fit(shape, words):
    with pytest.raises(ShapeError, match=words):
        lax.scaled_dot(X, X.T, lhs_scale=np.ones(shape, F32))


# approx_max_k ----------------------------------------------------------------------------------------


def test_approx_k_is_exact_here():
    x = np.random.default_rng(0).permutation(40).astype(F32).reshape(4, 10)
    values, places = lax.approx_min_k(x, 3, recall_target=0.5)
    np.testing.assert_array_equal(values, np.sort(x)[:, :3])
    np.testing.assert_array_equal(places, np.argsort(x)[:, :3])
    assert lax.approx_max_k(x, 3, aggregate_to_topk=False)[0].shape == (4, 10)


@pytest.mark.parametrize(
    ("x", "k", "words"),
    [
        (np.arange(3), 1, "must be a floating type"),
        (np.ones(3, F32), 4, "smaller than the size of reduction_dim 3, got 4"),
        (np.ones(3, F32), 0, "k must be positive, got 0"),
        (F32(1), 1, "must have >= 1 dimension"),
    ],
)
def test_approx_k_refuses(x, k, words):
    with pytest.raises((ArgumentValueError, ShapeError), match=words):
        lax.approx_max_k(x, k)


# Composites ------------------------------------------------------------------------------------------


def scaled_sine(x):
    return lax.composite(lambda x, *, k, z=None: lax.sin(x) * k, "my.scaled_sine", 3)(x, k=2.0)


def test_a_composite_is_its_decomposition():
    np.testing.assert_allclose(scaled_sine(X), 2 * np.sin(X), rtol=1e-6)
    np.testing.assert_allclose(
        sagax.grad(lambda x: scaled_sine(x).sum())(X), 2 * np.cos(X), rtol=1e-6
    )
    np.testing.assert_allclose(sagax.vmap(scaled_sine)(X), 2 * np.sin(X), rtol=1e-6)


def test_a_composite_is_known_to_the_compiler_by_name():
    program = text(scaled_sine, X)
    assert 'stablehlo.composite "my.scaled_sine"' in program
    assert "k = 2.000000e+00 : f64" in program
    assert "version = 3" in program


def test_composites_close_over_arrays_as_operands():
    f = sagax.jit(lambda x: lax.composite(lambda y: y + x, "my.add")(2 * x))
    np.testing.assert_allclose(f(X), 3 * X, rtol=1e-6)


def test_composites_with_equal_attributes_are_traced_once():
    def f(x, a):
        return lax.composite(lambda x, a: x * a[0], "my.first")(x, a=a)

    np.testing.assert_array_equal(f(X, np.array([2.0, 3])), 2 * X)
    np.testing.assert_array_equal(f(X, np.array([4.0, 3])), 4 * X)


@pytest.mark.parametrize("name", ["plain", "my.", "3.x", 5, "my op.x"])
def test_composites_need_a_namespace(name):
    with pytest.raises(ArgumentValueError, match="argument name must be a name in a namespace"):
        lax.composite(lambda x: x, name)


def test_attributes_are_checked():
    with pytest.raises(ArgumentError, match="the attribute k cannot be handed to the compiler"):
        lax.composite(lambda x, k: x, "my.op")(X, k=object())


# Platforms -------------------------------------------------------------------------------------------


def by_platform(x):
    return lax.platform_dependent(
        x, cpu=lambda x: x * 3, tpu=lambda x: x * 4, default=lambda x: x * 2
    )


@pytest.mark.parametrize("how", [lambda f: f, sagax.jit, sagax.vmap])
def test_the_function_of_the_platform_runs(how):
    np.testing.assert_array_equal(how(by_platform)(X), 3 * X)
    np.testing.assert_array_equal(sagax.grad(lambda x: how(by_platform)(x).sum())(X), 0 * X + 3)


def test_other_platforms_are_not_compiled():
    program = text(by_platform, X)
    assert "stablehlo.case" not in program
    assert program.count("multiply") == 1


def test_platforms_without_a_function():
    with pytest.raises(NotImplementedError, match="no function for the platform 'cpu'"):
        lax.platform_dependent(X, tpu=lambda x: x)
    np.testing.assert_array_equal(
        lax.platform_dependent(X, tpu=lambda x: x, default=lambda x: -x), -X
    )
    with pytest.raises(ArgumentError, match="the 'cpu' branch must be a callable"):
        lax.platform_dependent(X, cpu=3)  # type: ignore[arg-type]
    with pytest.raises(ArgumentError, match="must have equal output types"):
        lax.platform_dependent(X, cpu=lambda x: x, default=lambda x: x.astype(int))
    with pytest.raises(ArgumentError, match="expected: a function|must be a function"):
        lax.platform_dependent(X)


# ragged_all_to_all -----------------------------------------------------------------------------------


def exchanged(operand, output, starts, sizes, places):
    """The definition, one slice after the other."""
    n = len(operand)
    out = [o.copy() for o in output]
    per = len(starts[0]) // n
    for source in range(n):
        for k in range(len(starts[0])):
            a, m, b = starts[source][k], sizes[source][k], places[source][k]
            out[k // per][b : b + m] = operand[source][a : a + m]
    return np.stack(out)


@pytest.mark.parametrize("per", [1, 2])
def test_ragged_exchange(per):
    rng = np.random.default_rng(per)
    n, rows = 3, 12
    operand = rng.normal(size=(n, rows, 2)).astype(F32)
    output = np.full((n, 20, 2), -1, F32)
    sizes = rng.integers(0, 3, (n, n * per))
    starts = np.cumsum(sizes, 1) - sizes
    # each receiver puts what arrives one after the other
    arriving = sizes.reshape(n, n, per).transpose(1, 0, 2).reshape(n, n * per)
    ends = np.cumsum(arriving, 1) - arriving
    places = ends.reshape(n, n, per).transpose(1, 0, 2).reshape(n, n * per)
    f = partial(lax.ragged_all_to_all, axis_name="i")
    have = sagax.jit(sagax.vmap(f, axis_name="i"))(operand, output, starts, sizes, places, arriving)
    np.testing.assert_array_equal(have, exchanged(operand, output, starts, sizes, places))


def test_ragged_exchange_checks_its_operands():
    good = [X, X, np.array([0, 1]), np.array([1, 1]), np.array([0, 1]), np.array([1, 1])]
    run = partial(lax.ragged_all_to_all, axis_name="i")
    mapped = sagax.vmap(run, in_axes=None, axis_name="i", axis_size=2)
    assert mapped(*good).shape == (2, 2, 3)
    for i, wrong, words in [
        (1, X[:, :2], "argument output must be the shape of operand"),
        (1, X.astype(int), "argument output must be dtype float32"),
        (3, good[3].astype(F32), "send_sizes must be integer type"),
        (4, good[4][:1], "argument output_offsets must be a vector"),
    ]:
        with pytest.raises((ShapeError, DtypeError), match=words):
            mapped(*good[:i], wrong, *good[i + 1 :])


# Native functions ------------------------------------------------------------------------------------

A = np.array([[4, 2], [2, 5]], F32)


def cholesky_call(**how):
    snp.linalg.cholesky(A)  # registers the kernels of LAPACK
    results = (Struct((2, 2), F32), Struct((), np.int32))
    f = ffi.ffi_call(
        "lapack_spotrf_ffi", results, input_layouts=[(1, 0)], output_layouts=[(1, 0), ()], **how
    )
    return lambda a: f(a, uplo=np.uint8(ord("L")))


@pytest.mark.parametrize("aliases", [None, {0: 0}])
def test_a_native_function_is_called(aliases):
    factor, info = sagax.jit(cholesky_call(input_output_aliases=aliases))(A)
    np.testing.assert_allclose(np.tril(factor), np.linalg.cholesky(A), rtol=1e-6)
    assert int(info) == 0


@pytest.mark.parametrize(
    "method",
    ["sequential", "sequential_unrolled", "expand_dims", "broadcast_all", "legacy_vectorized"],
)
def test_native_functions_under_vmap(method):
    stack = np.stack([A, 4 * A, 9 * A])
    factors, info = sagax.vmap(cholesky_call(vmap_method=method))(stack)
    np.testing.assert_allclose(np.tril(factors), np.linalg.cholesky(stack), rtol=1e-6)
    assert info.shape == (3,)


def test_native_functions_without_a_rule():
    with pytest.raises(NotImplementedError, match="vmap_method"):
        sagax.vmap(cholesky_call())(A[None])
    with pytest.raises(ValueError, match="cannot be differentiated"):
        sagax.grad(lambda a: cholesky_call()(a)[0].sum())(A)


def test_attributes_of_a_call():
    f = ffi.ffi_call("nobody", Struct((3,), F32), has_side_effect=True)
    program = text(
        lambda x: f(x, a=1, b=2.0, c="s", d=F32(3), e=True, g=np.int8(3), h={"k": np.arange(2)}), X
    )
    wanted = (
        'a = 1 : i64, b = 2.000000e+00 : f64, c = "s", d = 3.000000e+00 : f32, e = true, g = 3 : i8'
    )
    assert wanted in program
    assert "h = {k = dense<[0, 1]> : tensor<2xi64>}" in program
    assert "has_side_effect = true" in program
    assert 'backend_config = "abc"' in text(
        ffi.ffi_call("nobody", Struct((3,), F32), custom_call_api_version=2,
                     legacy_backend_config="abc"), X)  # fmt: skip


def test_calls_with_side_effects_are_kept():
    def f(x, how):
        ffi.ffi_call("nobody", Struct((3,), F32), has_side_effect=how)(x)
        return x

    assert "@nobody" in text(partial(f, how=True), X)
    assert "@nobody" not in text(partial(f, how=False), X)


@pytest.mark.parametrize(
    ("how", "words"),
    [
        ({"vmap_method": "all"}, "argument vmap_method must be None or one of sequential"),
        ({"input_layouts": [(0, 1), (0, 1)]}, r"number of input arguments \(1\)"),
        ({"input_layouts": [(0,)]}, r"argument input_layouts\[0\]"),
        ({"input_output_aliases": {0: 0}}, "different abstract value"),
        ({"input_output_aliases": {2: 0}}, "input index 2 outside the range"),
        ({"legacy_backend_config": "x"}, "argument legacy_backend_config must be None"),
    ],
)
def test_calls_are_checked(how, words):
    with pytest.raises(ArgumentValueError, match=words):
        ffi.ffi_call("nobody", Struct((3,), F32), **how)(X)


def test_results_need_types():
    with pytest.raises(
        ValueError, match="must have 'shape' and 'dtype' attributes. Got 3 at position 0"
    ):
        ffi.ffi_call("nobody", 3)
    with pytest.raises(NotAnArrayError, match="args\\[1\\]"):
        ffi.ffi_call("nobody", Struct((3,), F32))(X, "text")
    with pytest.raises(NotImplementedError, match="tokens"):
        ffi.ffi_call("nobody", ffi.abstract_token)


def test_only_native_functions_are_registered():
    for register in (ffi.register_ffi_target, ffi.register_ffi_type_id):
        with pytest.raises(ArgumentError, match="a PyCapsule"):
            register("mine", abs)
    with pytest.raises(ArgumentError, match="type_registration"):
        ffi.register_ffi_type("mine", abs)
    with pytest.raises(ArgumentError, match="funcptr"):
        ffi.pycapsule("malloc")
    assert type(ffi.pycapsule(ctypes.CDLL(None).malloc)).__name__ == "PyCapsule"
    assert os.path.exists(os.path.join(ffi.include_dir(), "xla", "ffi", "api", "ffi.h"))


# Names that other devices need, and small things -----------------------------------------------------


@pytest.mark.parametrize(
    "call",
    [
        lambda: lax.psend(X, "i", [(0, 1)]),
        lambda: lax.precv(None, X, "i", [(0, 1)]),
    ],
)
def test_names_that_say_what_to_do_instead(call):
    with pytest.raises(NotImplementedError, match="fix: (use|let|leave)"):
        call()


def test_stage():
    assert repr(lax.stage(2)) == "Array(2, dtype=int32, weak_type=True)"
    assert isinstance(lax.stage(X), sagax.Array)
    seen = []
    with sagax.check_tracer_leaks(False):
        sagax.jit(lambda: seen.append(lax.stage(2.0)) or 0)()
    with pytest.raises(sagax.errors.UnexpectedTracerError):
        seen[0] + 1
    with pytest.raises(NotAnArrayError, match="stage"):
        lax.stage("x")


def test_numbers_of_several_kinds():
    assert float(sagax.grad(lambda y: lax.pow(2.0, y))(3.0)) == pytest.approx(8 * np.log(2))
    assert float(lax.add(2, 0.5)) == 2.5


@pytest.mark.parametrize(
    ("call", "function", "argument"),
    [
        (lambda: lax.add(X, "text"), "add", "y"),
        (lambda: lax.sin(None), "sin", "x"),
        (lambda: lax.dot(X, [1, 2]), "dot", "rhs"),
        (lambda: lax.concatenate([X, [1, 2]], 0), "concatenate", "operands[1]"),
        (lambda: sagax.jit(lambda x: lax.clamp(0.0, x, "1"))(X), "clamp", "max"),
    ],
)
def test_what_is_no_array_is_named(call, function, argument):
    with pytest.raises(NotAnArrayError) as error:
        call()
    facts = error.value.facts
    assert (facts["function"], facts["argument"]) == (function, argument)


def test_advice_names_functions_that_exist():
    x, y = np.ones(3, F32), np.ones(3, np.float16)
    for name in ("add", "max", "rem", "atan2", "nextafter", "eq", "igamma"):
        with pytest.raises(DtypeError) as error:
            getattr(lax, name)(x, y)
        fix = error.value.facts["fix"]
        if name == "igamma":
            assert "numpy" not in fix
        else:
            advised = fix.split("sagax.numpy.")[1].split()[0]
            assert getattr(snp, advised)(x, y).shape == (3,)


def test_largest_elements_come_in_a_list_as_in_jax():
    x = np.float32([1, 3, 2])
    found = [f(x, 2) for f in (lax.top_k, lax.approx_max_k, lax.approx_min_k)]
    found.append(sagax.jit(lambda x: lax.top_k(x, 2))(x))
    assert [type(pair) for pair in found] == [list] * 4


X3 = np.ones(3, np.float32)
WRONG_CALLS = {
    "pred": (lambda: lax.select(X3, X3, X3), TypeError, ["select: argument pred", "float32[3]"]),
    "pred shape": (
        lambda: lax.select(X3[:2] > 0, X3, X3),
        TypeError,
        ["select: argument pred", "the shape of on_true and on_false, (3,)", "bool[2]"],
    ),
    "select dtypes": (
        lambda: lax.select(X3 > 0, X3, X3.astype(np.int32)),
        TypeError,
        ["lax.select requires arguments to have the same dtypes, got float32, int32"],
    ),
    "select shapes": (
        lambda: lax.select(X3 > 0, X3, X3[:2]),
        TypeError,
        ["on_true of shape (3,) and on_false of shape (2,)"],
    ),
    "initial value": (
        lambda: lax.reduce(X3, X3, lax.add, (0,)),
        ValueError,
        ["reduce found non-scalar initial value", "argument: init_values", "float32[3]"],
    ),
    "nothing to reduce": (
        lambda: lax.reduce((), (), lambda x, y: x, (0,)),
        ValueError,
        ["argument operands must be at least one array"],
    ),
    "two results of one": (
        lambda: lax.reduce(X3, np.float32(0), lambda x, y: (x, y), (0,)),
        TypeError,
        ["argument: computation", "expected: one scalar", "tuple of length 2"],
    ),
    "one result of two": (
        lambda: lax.reduce((X3, X3), (np.float32(0), np.float32(0)), lambda x, y: x[0], (0,)),
        TypeError,
        ["argument: computation", "expected: a tuple of 2 scalars"],
    ),
    "svd algorithm": (
        lambda: lax.linalg.svd(np.eye(2, dtype=np.float32), algorithm="best"),
        ValueError,
        ["svd: argument algorithm", "SvdAlgorithm.QR", "'best'"],
    ),
    "batch_matmul": (
        lambda: lax.batch_matmul(np.ones((2, 3), np.float32), X3),
        ValueError,
        ["(2, 3) and (3,)"],
    ),
    "dot of formats without an order": (
        lambda: lax.dot(snp.ones(2, "float8_e5m2"), snp.ones(2, "float8_e5m2fnuz")),
        TypeError,
        ["same dtypes, got float8_e5m2, float8_e5m2fnuz"],
    ),
}


@pytest.mark.parametrize("case", WRONG_CALLS)
def test_wrong_calls_are_told_by_the_names_that_the_user_wrote(case):
    call, kind, words = WRONG_CALLS[case]
    with pytest.raises(kind) as caught:
        call()
    assert [w for w in words if w not in str(caught.value)] == []
