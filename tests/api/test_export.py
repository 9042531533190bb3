"""Exported functions: symbolic sizes, calls, derivatives, the serialized form."""

from __future__ import annotations

import textwrap
from collections import OrderedDict
from typing import NamedTuple

import numpy as np
import pytest

import sagax
import sagax.numpy as snp
from export_operations import REFUSED, ROWS
from sagax import export, lax, tree_util
from sagax.errors import InconclusiveDimensionOperation

S = sagax.ShapeDtypeStruct


def specifications(row):
    scope = export.SymbolicScope(row.constraints)
    for text in row.specs:
        shape, _, dtype = text.partition(":")
        yield S(export.symbolic_shape(shape, scope=scope), dtype.strip() or "float32")


def arguments(specs, sizes, rng):
    for s in specs:
        shape = [d if isinstance(d, int) else d.evaluate(sizes) for d in s.shape]
        if s.dtype == np.int32:
            yield rng.integers(0, 3, shape).astype(np.int32)
        else:
            yield rng.uniform(size=shape).astype(np.float32)


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.name)
def test_operation(row):
    """Called with several sizes, the exported function gives what the function itself gives.

    Where a size of 1 means something else to the function, the call is refused.
    """
    rng = np.random.default_rng(0)
    specs = list(specifications(row))
    exported = export.export(sagax.jit(row.function))(*specs)
    several = [{"b": 3, "c": 2, "h": 5, "k": 2}, {"b": 5, "c": 4, "h": 3, "k": 3}]
    if not row.constraints:
        several.append(dict.fromkeys("bchk", 1))
    for sizes in several:
        args = list(arguments(specs, sizes, rng))
        if not all(a.holds(sizes) for a in exported.assumptions):
            with pytest.raises(ValueError, match="took for granted"):
                exported.call(*args)
            continue
        expected = sagax.tree.leaves(row.function(*map(snp.asarray, args)))
        for want, got in zip(expected, sagax.tree.leaves(exported.call(*args)), strict=True):
            assert (want.shape, want.dtype) == (got.shape, got.dtype)
            np.testing.assert_allclose(np.asarray(got), np.asarray(want), rtol=2e-5, atol=1e-5)


@pytest.mark.parametrize("row", REFUSED, ids=lambda row: row.name)
def test_refused_operation(row):
    refusals = (NotImplementedError, TypeError, ValueError, InconclusiveDimensionOperation)
    with pytest.raises(refusals) as caught:
        export.export(sagax.jit(row.function))(*specifications(row))
    assert isinstance(caught.value, sagax.errors.SagaxError)
    assert not isinstance(caught.value, sagax.errors.ConcretizationTypeError)


@pytest.mark.parametrize("squeeze", [snp.squeeze, lambda x: x.squeeze(), snp.cov])
def test_dimensions_that_are_left_out_if_they_are_1(squeeze):
    """A size of 1 would give a result of another shape: taken for granted, and checked."""
    specs = S(export.symbolic_shape("b, 3"), "float32")
    exported = export.export(sagax.jit(squeeze))(specs)
    assert "b != 1" in map(str, exported.assumptions)
    x = np.arange(6, dtype=np.float32).reshape(2, 3)
    assert exported.call(x).shape == squeeze(snp.asarray(x)).shape
    with pytest.raises(ValueError, match="took for granted that b != 1"):
        exported.call(x[:1])
    with pytest.raises(InconclusiveDimensionOperation, match="'b' == '1'"):
        export.export(sagax.jit(squeeze), strict=True)(specs)


# what an export knows of itself ------------------------------------------------------------------------


def model(params, x):
    return snp.tanh(x @ params["w"] + params["b"]).sum(axis=1)


def model_in_numpy(params, x):
    return np.tanh(x @ params["w"] + params["b"]).sum(axis=1)


PARAMS = {"w": np.arange(6, dtype=np.float32).reshape(3, 2) / 10, "b": np.float32([0.5, -0.5])}


@pytest.fixture(scope="module")
def exported():
    (b,) = export.symbolic_shape("b")
    params = {"w": S((3, 2), "float32"), "b": S((2,), "float32")}
    return export.export(sagax.jit(model))(params, S((b, 3), "float32"))


def rows(n):
    return np.linspace(-1, 1, 3 * n, dtype=np.float32).reshape(n, 3)


def test_fields(exported):
    assert exported.fun_name == "model"
    assert str(exported.in_avals[2]) == "float32[b,3]" or "b,3" in repr(exported.in_avals[2])
    assert exported.out_avals[0].shape == (exported.in_avals[2].shape[0],)
    assert exported.platforms == ("cpu",) and exported.nr_devices == 1
    assert exported.module_kept_var_idx == (0, 1, 2)
    assert exported.disabled_safety_checks == () and exported.assumptions == ()
    assert "tensor<?x3xf32>" in exported.mlir_module()
    assert exported.mlir_module_serialized.startswith(b"ML\xefR")
    assert exported.in_tree == sagax.tree.structure(((PARAMS, 0), {}))
    assert 9 <= exported.calling_convention_version <= 10
    low, high = (
        export.minimum_supported_calling_convention_version,
        export.maximum_supported_calling_convention_version,
    )
    assert (low, high) == (9, 10)


@pytest.mark.parametrize("n", [1, 2, 7])
def test_calls(exported, n):
    x = rows(n)
    expected = model_in_numpy(PARAMS, x)
    for call in (exported.call, sagax.jit(exported.call)):
        np.testing.assert_allclose(call(PARAMS, x), expected, rtol=1e-5)


def test_transformed_calls(exported):
    x = rows(4)
    direct = sagax.grad(lambda p: model(p, x).sum())(PARAMS)
    for g in (sagax.grad(lambda p: exported.call(p, x).sum()),):
        for h in (g, sagax.jit(g)):
            found = h(PARAMS)
            for name in PARAMS:
                np.testing.assert_allclose(found[name], direct[name], rtol=1e-5)
    xs = np.stack([x, 2 * x])
    mapped = sagax.vmap(exported.call, in_axes=(None, 0))(PARAMS, xs)
    np.testing.assert_allclose(mapped, [model_in_numpy(PARAMS, v) for v in xs], rtol=1e-5)


@pytest.mark.parametrize("order", [0, 1, 2, 3])
def test_derivatives_that_were_serialized(order):
    """Reverse mode n times needs n derivatives, forward mode one more: it is the reverse of the reverse."""
    blob = export.export(sagax.jit(lambda v: snp.sin(v).sum()))(S((3,), "float32")).serialize(order)
    f = export.deserialize(blob).call
    v = np.float32([0.1, 0.2, 0.3])
    for needed, derivative, expected in [
        (1, lambda: sagax.grad(f)(v), np.cos(v)),
        (2, lambda: sagax.jvp(f, (v,), (2 * v,))[1], np.sum(np.cos(v) * 2 * v)),
        (2, lambda: sagax.jit(sagax.jacfwd(f))(v), np.cos(v)),
        (2, lambda: sagax.jacrev(sagax.grad(f))(v), -np.diag(np.sin(v))),
        (3, lambda: sagax.hessian(f)(v), -np.diag(np.sin(v))),
    ]:
        if needed <= order:
            np.testing.assert_allclose(derivative(), expected, rtol=1e-5)
        else:
            with pytest.raises(ValueError, match="No VJP is available") as caught:
                derivative()
            assert "vjp_order" in str(caught.value)


@pytest.mark.parametrize("sizes", [(3, 2), (1, 2), (3, 1), (1, 1)])
def test_gradients_of_broadcast_operands_at_any_size(sizes):
    n, k = export.symbolic_shape("n, k")
    slopes = sagax.grad(lambda w, x, b: snp.sin(x * w + b).sum(), argnums=(0, 2))
    e = export.export(sagax.jit(slopes))(
        S((n, 1), "float32"), S((n, k), "float32"), S((k,), "float32")
    )
    rng = np.random.default_rng(3)
    w, x, b = (rng.normal(size=s).astype(np.float32) for s in ((sizes[0], 1), sizes, sizes[1:]))
    c = np.cos(x * w + b)
    dw, db = e.call(w, x, b)
    np.testing.assert_allclose(dw, (c * x).sum(1, keepdims=True), rtol=1e-5, atol=1e-5)
    np.testing.assert_allclose(db, c.sum(0), rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("sizes", [(3, 2, 4), (1, 2, 4), (3, 1, 4), (3, 2, 1)])
def test_batched_loops_of_symbolic_sizes(sizes):
    def roll(xs, c):
        def body(carry, x):
            a, b, i = carry
            return (snp.tanh(a + x), b + 1, i * 2), (a * b).sum()

        return lax.scan(body, (c, c * 0 + 1, snp.float32(1)), xs)

    b, t, m = export.symbolic_shape("b, t, m")
    batched = sagax.jit(sagax.vmap(roll, in_axes=(0, None)))
    e = export.export(batched)(S((b, t, m), "float32"), S((m,), "float32"))
    steps, size, batch = sizes
    xs = np.random.default_rng(2).normal(size=(batch, steps, size)).astype(np.float32)
    (a, ones, doubled), sums = e.call(xs, np.ones(size, np.float32))
    for i in range(batch):
        expected, totals = np.ones(size, np.float32), []
        for step in range(steps):
            totals.append((expected * (step + 1)).sum())
            expected = np.tanh(expected + xs[i, step])
        np.testing.assert_allclose(a[i], expected, rtol=1e-5, atol=1e-6)
        np.testing.assert_allclose(sums[i], totals, rtol=1e-5, atol=1e-6)
    assert (np.asarray(ones) == steps + 1).all() and (np.asarray(doubled) == 2**steps).all()


def test_forward_mode_with_symbolic_sizes_and_integers(exported):
    (b,) = export.symbolic_shape("b")
    e = export.export(sagax.jit(lambda x, i: (x[i] * x, i + 1)))(S((b,), "float32"), S((), "int32"))
    x = np.float32([1.0, 2.0, 3.0])
    (y, j), (t, t_of_j) = sagax.jvp(lambda x: e.call(x, 1), (x,), (np.ones_like(x),))
    np.testing.assert_allclose(y, 2 * x)
    np.testing.assert_allclose(t, x + 2)
    assert int(j) == 2 and t_of_j.dtype == sagax.dtypes.float0
    xs = np.stack([rows(2), 2 * rows(2)])
    pushed = sagax.vmap(lambda x: sagax.jvp(lambda x: exported.call(PARAMS, x), (x,), (x,))[1])(xs)
    slope = 1 - np.tanh(xs @ PARAMS["w"] + PARAMS["b"]) ** 2
    np.testing.assert_allclose(pushed, (slope * (xs @ PARAMS["w"])).sum(-1), rtol=1e-5)


def test_an_exported_function_inside_of_another(exported):
    (n,) = export.symbolic_shape("n")
    outer = export.export(sagax.jit(lambda p, x: 2 * exported.call(p, x)))(
        PARAMS, S((2 * n, 3), "float32")
    )
    assert str(outer.out_avals[0].shape) == "(2*n,)"
    np.testing.assert_allclose(
        outer.call(PARAMS, rows(4)), 2 * model_in_numpy(PARAMS, rows(4)), rtol=1e-5
    )


def test_derivatives_of_one_result_only():
    (b,) = export.symbolic_shape("b")
    e = export.export(sagax.jit(lambda x, i: (x * x, (x[i], x.sum()))))(
        S((b,), "float32"), S((), "int32")
    )
    x = np.float32([1.0, 2.0, 3.0])
    np.testing.assert_allclose(sagax.grad(lambda x: e.call(x, 1)[1][0])(x), [0.0, 1.0, 0.0])
    np.testing.assert_allclose(sagax.grad(lambda x: e.call(x, 1)[0].sum())(x), 2 * x)
    again = export.deserialize(e.serialize(vjp_order=2))
    second = sagax.grad(lambda x: sagax.grad(lambda x: again.call(x, 1)[0].sum())(x)[0])
    np.testing.assert_allclose(second(x), [2.0, 0.0, 0.0])


def test_closed_over_arrays_travel():
    table = snp.arange(5.0)
    e = export.deserialize(
        export.export(sagax.jit(lambda i: table[i] * 2))(S((), "int32")).serialize()
    )
    assert float(e.call(3)) == 6.0


# sizes ----------------------------------------------------------------------------------------------------


def test_a_size_that_is_passed_directly():
    (k,) = export.symbolic_shape("k", constraints=["k <= 10"])
    x = np.arange(40, dtype=np.int32).reshape(4, 10)

    def top(x, k):
        return lax.top_k(x, k)[0]

    e = export.export(sagax.jit(top, static_argnames="k"))(x, k=k)
    expected = np.sort(x, axis=1)[:, ::-1]
    for exp in (e, export.deserialize(e.serialize())):
        np.testing.assert_array_equal(exp.call(x, k=3), expected[:, :3])
        np.testing.assert_array_equal(exp.call(x, dims={"k": 2}), expected[:, :2])
        with pytest.raises(ValueError, match="k <= 10"):
            exp.call(x, k=11)
        with pytest.raises(TypeError, match="dimension argument k is missing"):
            exp.call(x)
        with pytest.raises(ValueError, match="dims"):
            exp.call(x, k=3, dims={"j": 1})
    by_position = export.export(sagax.jit(top, static_argnums=1))(x, k)
    for exp in (by_position, export.deserialize(by_position.serialize())):
        np.testing.assert_array_equal(exp.call(x, dims={"k": 3}), expected[:, :3])
        np.testing.assert_array_equal(exp.call(x, k=2), expected[:, :2])
        with pytest.raises(TypeError, match="dimension argument k is missing"):
            exp.call(x)


def test_a_size_that_an_empty_array_carries():
    (k,) = export.symbolic_shape("k", constraints=["k <= 4"])
    e = export.export(sagax.jit(lambda d, x: lax.top_k(x, d.shape[1])[1]))(
        S((0, k), "int32"), S((4,), "float32")
    )
    x = np.float32([1, np.nan, 3, 3])
    np.testing.assert_array_equal(e.call(np.zeros((0, 3), np.int32), x), [1, 2, 3])


@pytest.mark.parametrize(
    ("spec", "shape", "sizes"),
    [
        ("a*a", (49,), {"a": 7}),
        ("a*b, b", (12, 3), {"a": 4, "b": 3}),
        ("2*a + 1", (7,), {"a": 3}),
        ("a + b, a - b", (9, 3), {"a": 6, "b": 3}),
        ("floordiv(a, 2), mod(a, 2)", (3, 1), {"a": 7}),
    ],
)
def test_specifications_that_have_one_solution(spec, shape, sizes):
    dims = export.symbolic_shape(spec, constraints=["a >= b"] if "- b" in spec else ())
    scope = dims[0].scope
    names = sorted(sizes)
    wanted = export.symbolic_shape(", ".join(names), scope=scope)

    def f(x):
        return [snp.asarray(d) for d in wanted]

    e = export.export(sagax.jit(f))(S(dims, "float32"))
    assert [int(v) for v in e.call(np.zeros(shape, np.float32))] == [sizes[n] for n in names]


def test_what_was_taken_for_granted_is_checked():
    (b,) = export.symbolic_shape("b")

    def f(x):
        return x.sum() if x.shape[0] == 1 else x

    e = export.export(sagax.jit(f))(S((b,), "float32"))
    assert [str(a) for a in e.assumptions] == ["b != 1"]
    for exp in (e, export.deserialize(e.serialize())):
        assert exp.call(np.ones(2, np.float32)).shape == (2,)
        with pytest.raises(ValueError, match="took for granted that b != 1") as caught:
            exp.call(np.ones(1, np.float32))
        assert "x.shape[0] == 1" in str(caught.value) and "test_export.py" in str(caught.value)
    # traced once more, from what is remembered: known all the same
    again = export.export(sagax.jit(f))(S((b,), "float32"))
    assert [str(a) for a in again.assumptions] == ["b != 1"]
    with pytest.raises(InconclusiveDimensionOperation):
        (c,) = export.symbolic_shape("c")
        export.export(sagax.jit(f), strict=True)(S((c,), "float32"))


def test_order_that_cannot_be_decided_names_a_constraint_that_settles_it():
    def f(x):
        return x[:2] if x.shape[0] >= 2 else x

    (b,) = export.symbolic_shape("b")
    with pytest.raises(InconclusiveDimensionOperation, match="b >= 2"):
        export.export(sagax.jit(f))(S((b,), "float32"))
    (b,) = export.symbolic_shape("b", constraints=["b >= 2"])
    e = export.export(sagax.jit(f))(S((b,), "float32"))
    assert e.call(np.ones(5, np.float32)).shape == (2,)
    with pytest.raises(ValueError, match="b >= 2"):
        e.call(np.ones(1, np.float32))


@pytest.mark.parametrize(
    ("spec", "shape", "words"),
    [
        ("b, b, 2*d", (3, 3, 5), ["Division had remainder 1 when computing the value of 'd'", "(b, b, 2*d)", "'b' = 3"]),
        ("b, b, 2*d", (3, 4, 6), ["inconsistency", "args[0].shape[1] (= 4)"]),
        ("b, b, 2*d", (0, 0, 2), ["Expected value >= 1 for dimension variable 'b'"]),
        ("b, 3", (2, 4), ["Shape mismatch for args[0].shape[1]", "(b, 3)", "(2, 4)"]),
        ("b, 3", (3,), ["Rank mismatch for args[0]"]),
    ],
)  # fmt: skip
def test_sizes_that_do_not_fit(spec, shape, words):
    e = export.export(sagax.jit(lambda x: x))(S(export.symbolic_shape(spec), "float32"))
    with pytest.raises(ValueError) as caught:
        e.call(np.ones(shape, np.float32))
    for word in words:
        assert word in str(caught.value)


def test_other_arguments_that_do_not_fit(exported):
    x = rows(2)
    with pytest.raises(ValueError, match=r"Dtype mismatch for args\[0\]\['w'\]: expected float32"):
        exported.call({**PARAMS, "w": PARAMS["w"].astype(np.int32)}, x)
    with pytest.raises(ValueError, match="pytree structure"):
        exported.call({"w": PARAMS["w"]}, x)
    with pytest.raises(ValueError, match="pytree structure"):
        exported.call(PARAMS)
    with pytest.raises(TypeError, match=r"args\[1\]"):
        exported.call(PARAMS, "text")
    with pytest.raises(ValueError, match="result of `jit`"):
        export.export(model)
    with pytest.raises(ValueError, match="platforms"):
        export.export(sagax.jit(model), platforms=["abacus"])
    with pytest.raises(NotImplementedError, match="cannot be exported"):
        export.export(sagax.jit(lambda x: sagax.debug.print("{}", x)))(1.0)


def test_64_bit_programs_say_how_to_call_them():
    with sagax.config.context(x64=True):
        exported = export.export(sagax.jit(lambda x: x * 2))(S((3,), "float64"))
        assert exported.call(np.ones(3)).dtype == np.float64
    with pytest.raises(ValueError, match="expected float64 and called with float32") as caught:
        exported.call(np.ones(3))
    assert "enable_x64" in str(caught.value)
    with (
        pytest.raises(ValueError, match="expected float64") as caught,
        sagax.config.context(x64=True),
    ):
        exported.call(np.ones(3, np.float32))
    assert "args[0].astype('float64')" in str(caught.value)


@pytest.mark.parametrize(
    ("size", "words"),
    [(True, "an integer"), (2.5, "an integer"), (np.ones(2, np.int32), "an integer"), ("3", "an integer")],
)  # fmt: skip
def test_dimension_arguments_are_integers(size, words):
    (k,) = export.symbolic_shape("k")
    f = sagax.jit(lambda x, k: snp.ones(k) * x, static_argnames="k")
    e = export.export(f)(np.float32(2), k=k)
    for good in (3, np.int64(3), snp.asarray(3)):
        np.testing.assert_array_equal(e.call(np.float32(2), k=good), [2, 2, 2])
    with pytest.raises(TypeError, match=words):
        e.call(np.float32(2), k=size)
    with pytest.raises(TypeError, match="given twice"):
        e.call(np.float32(2), k=3, dims={"k": 3})
    with pytest.raises(TypeError, match="known while tracing"):
        sagax.jit(lambda k: e.call(np.float32(2), k=k))(3)


def test_scopes_that_are_misused():
    a, other = export.symbolic_shape("a") + export.symbolic_shape("a")
    with pytest.raises(
        ValueError, match=r"mixing of symbolic scopes when exporting .*'a' \(args\[1\]\)"
    ):
        export.export(sagax.jit(lambda x, y: x.sum() + y.sum()))(
            S((a,), "int32"), S((other,), "int32")
        )
    with pytest.raises(ValueError, match="mixing of symbolic scopes"):
        a + other
    with pytest.raises(TypeError, match="scope must be a SymbolicScope"):
        export.symbolic_shape("a", scope=3)
    with pytest.raises(ValueError, match="constraints must be a sequence of strings"):
        export.SymbolicScope(3)
    with pytest.raises(ValueError, match="both a scope and constraints"):
        export.symbolic_args_specs((np.ones(3),), ("b",), constraints=["b >= 2"], scope=a.scope)
    with pytest.raises(ValueError, match="shapes_specs must be a tree prefix of args"):
        export.symbolic_args_specs((np.ones(3), np.ones(3)), ("b",))


def test_bounds_of_sizes():
    a, b = export.symbolic_shape("a, b", constraints=["a >= b + 2", "b <= 7"])
    inf = float("inf")
    assert export.symbolic_dim_bounds(a - b) == (2, inf)
    assert export.symbolic_dim_bounds(2 - b) == (-5, 1)
    assert export.symbolic_dim_bounds(b - a) == (-inf, -2)
    assert export.symbolic_dim_bounds(np.int32(3)) == (3, 3)
    with pytest.raises(TypeError):
        export.symbolic_dim_bounds(3.5)


def test_sizes_inside_of_jitted_functions_whose_types_do_not_show_them():
    def f(x):
        n = x.shape[0]
        whole = sagax.jit(lambda v: snp.arange(n).sum() + v)
        scaled = sagax.jit(lambda v: sagax.jit(lambda w: w * n)(v) + 1)
        return whole(2), scaled(3.0)

    e = export.export(sagax.jit(f))(S(export.symbolic_shape("b"), "float32"))
    for n in (1, 4):
        assert [float(v) for v in e.call(np.ones(n, np.float32))] == [
            n * (n - 1) / 2 + 2,
            3 * n + 1,
        ]


def test_even_division_is_asked_for():
    (b,) = export.symbolic_shape("b")
    with pytest.raises(
        InconclusiveDimensionOperation, match="Cannot divide evenly the sizes of shapes"
    ):
        export.export(sagax.jit(lambda x: x.reshape((2, -1))))(S((b,), "int32"))
    e = export.export(sagax.jit(lambda x: x.reshape((2, -1))))(S((4 * b,), "int32"))
    assert str(e.out_avals[0].shape) == "(2, 2*b)"


def test_platforms():
    f = sagax.jit(lambda x: snp.sin(x) @ x)
    both = export.export(f, platforms=["cuda", "cpu"])(S((2, 2), "float32"))
    assert both.platforms == ("cuda", "cpu")
    x = np.float32([[1, 2], [3, 4]])
    np.testing.assert_allclose(both.call(x), np.sin(x) @ x, rtol=1e-6)
    other = export.export(f, platforms=["tpu"])(S((2, 2), "float32"))
    with pytest.raises(ValueError, match="exported for platforms"):
        other.call(x)
    unchecked = export.export(
        f, platforms=["tpu"], disabled_checks=[export.DisabledSafetyCheck.platform()]
    )(S((2, 2), "float32"))
    for e in (unchecked, export.deserialize(unchecked.serialize())):
        np.testing.assert_allclose(e.call(x), np.sin(x) @ x, rtol=1e-6)
        assert e.platforms == ("tpu",)


def test_specifications_of_many_arguments():
    args = ({"w": np.ones((3, 2)), "n": np.ones(2, np.int32)}, [np.ones((4, 3))])
    found = export.symbolic_args_specs(args, ("...", "b, _"), constraints=["b >= 2"])
    assert found[0]["w"].shape == (3, 2) and found[0]["n"].dtype == np.int32
    assert str(found[1][0].shape) == "(b, 3)"
    b = found[1][0].shape[0]
    assert export.is_symbolic_dim(b) and b >= 2
    assert not export.is_symbolic_dim(3)


# the serialized form ------------------------------------------------------------------------------------


class Pair(NamedTuple):
    first: object
    second: object


class Box:
    def __init__(self, value, label):
        self.value, self.label = value, label


tree_util.register_pytree_node(
    Box, lambda b: ((b.value,), b.label), lambda label, c: Box(*c, label)
)


def test_structures_of_all_kinds():
    export.register_namedtuple_serialization(Pair, serialized_name="tests.Pair")
    export.register_pytree_node_serialization(
        Box,
        serialized_name="tests.Box",
        serialize_auxdata=lambda label: label.encode(),
        deserialize_auxdata=lambda data: data.decode(),
    )

    def f(box, pair, *, more):
        return OrderedDict(b=Pair(box.value, None), a=[pair.first + more["x"], ()]), box

    args = (Box(np.float32(1), "label"), Pair(np.float32(2), np.float32(3)))
    more = {"x": np.float32(4)}
    e = export.deserialize(export.export(sagax.jit(f))(*args, more=more).serialize())
    out, box = e.call(*args, more=more)
    assert type(out) is OrderedDict and list(out) == ["b", "a"]
    assert isinstance(out["b"], Pair) and float(out["b"].first) == 1.0 and out["b"].second is None
    assert float(out["a"][0]) == 6.0 and out["a"][1] == ()
    assert box.label == "label"
    for again in (
        lambda: export.register_namedtuple_serialization(Pair, serialized_name="tests.Other"),
        lambda: export.register_namedtuple_serialization(Box, serialized_name="tests.Third"),
    ):
        with pytest.raises(ValueError):
            again()


def test_structures_that_are_not_registered():
    class Local(NamedTuple):
        x: object

    e = export.export(sagax.jit(lambda p: p.x))(Local(1.0))
    with pytest.raises(ValueError, match="register_namedtuple_serialization"):
        e.serialize()


def test_keys_and_narrow_types_travel():
    def f(key, x):
        return sagax.random.uniform(key, (2,)), x.astype("bfloat16"), key

    e = export.export(sagax.jit(f))(sagax.random.key(0), S((2,), "float8_e4m3fn"))
    u, x, key = export.deserialize(e.serialize()).call(
        sagax.random.key(0), snp.asarray([1.0, 2.0], dtype="float8_e4m3fn")
    )
    np.testing.assert_array_equal(u, sagax.random.uniform(sagax.random.key(0), (2,)))
    assert str(x.dtype) == "bfloat16"
    assert key.dtype == sagax.random.key(0).dtype


@pytest.mark.parametrize("name", ["exported_0102.bin", "exported_012.bin"])
def test_programs_of_other_engines(name, request):
    """Written by jaxlib 0.10.2 and by 0.12, read by whichever is here."""
    blob = (request.path.parents[1] / "data" / name).read_bytes()
    e = export.deserialize(blob)
    np.testing.assert_allclose(e.call(PARAMS, rows(5)), model_in_numpy(PARAMS, rows(5)), rtol=1e-5)
    found = sagax.grad(lambda x: e.call(PARAMS, x).sum())(rows(2))
    slope = 1 - np.tanh(rows(2) @ PARAMS["w"] + PARAMS["b"]) ** 2
    np.testing.assert_allclose(found, slope @ PARAMS["w"].T, rtol=1e-5)


@pytest.mark.parametrize("name", ["exported_calls_0102.bin", "exported_calls_012.bin"])
def test_kernels_and_transforms_of_other_engines(name, request, run_python):
    """They are written in an older version of StableHLO, and find their kernels where nothing else asked for them."""
    program = f"""
        import numpy as np
        from sagax import export
        e = export.deserialize(open({str(request.path.parents[1] / "data" / name)!r}, "rb").read())
        x = np.arange(15, dtype=np.float32).reshape(5, 3) % 4
        values, spectrum = e.call(x)
        print(np.abs(values - np.linalg.svd(x, compute_uv=False)).max() < 1e-4)
        print(np.abs(spectrum - np.abs(np.fft.rfft(x, axis=0))).max() < 1e-4)
    """
    assert run_python("-c", textwrap.dedent(program)).stdout == "True\nTrue\n"


def test_artifacts_are_in_a_version_that_the_oldest_engine_reads():
    """jaxlib 0.10.2, the oldest that sagax runs on, reads StableHLO up to version 1.17.0."""
    for f in (snp.sin, snp.linalg.inv, lambda x: lax.top_k(x, 1)):
        artifact = export.export(sagax.jit(f))(S((2, 2), "float32")).mlir_module_serialized
        version = artifact.partition(b"StableHLO_v")[2].partition(b"\0")[0].decode()
        assert tuple(map(int, version.split("."))) <= (1, 17, 0)


def test_a_fresh_process(exported, tmp_path, run_python):
    (tmp_path / "model.bin").write_bytes(exported.serialize())
    program = """
        import numpy as np
        from sagax import export
        e = export.deserialize(open("model.bin", "rb").read())
        params = {"w": np.ones((3, 2), np.float32), "b": np.zeros(2, np.float32)}
        print(e.call(params, np.zeros((4, 3), np.float32)))
    """
    out = run_python("-c", textwrap.dedent(program), cwd=tmp_path).stdout
    assert out == "[0. 0. 0. 0.]\n"


def test_bytes_that_are_no_exported_function(exported):
    blob = bytes(exported.serialize())
    rng = np.random.default_rng(0)
    with pytest.raises(TypeError, match="bytes"):
        export.deserialize("text")
    for wrong, words in [
        (b"", "does not begin"),
        (b"PK\x03\x04" + blob[4:], "does not begin"),
        (exported.mlir_module_serialized, "a StableHLO module alone"),
        (b"\x1c\0\0\0" * 20 + exported.mlir_module_serialized, "in the form of another library"),
        (blob[:20], "cut short"),
        (blob[:-1], "bytes were written"),
        (blob + b"x", "bytes were written"),
        (blob[:8] + b"\x09\x00" + blob[10:], "of version 9"),
    ]:
        with pytest.raises(ValueError, match=words):
            export.deserialize(wrong)
    for _ in range(2000):
        damaged = bytearray(blob)
        for _ in range(rng.integers(1, 4)):
            damaged[rng.integers(len(blob))] ^= 1 << rng.integers(8)
        if bytes(damaged) != blob:
            with pytest.raises(ValueError):
                export.deserialize(damaged)


def test_well_sealed_nonsense(exported):
    """With a digest that fits, what is inside must still describe an exported function."""
    import hashlib
    import json
    import struct

    blob = bytes(exported.serialize())
    header = struct.Struct("<8sHQ32s")
    body = blob[header.size :]
    (length,) = struct.unpack_from("<Q", body)
    data = json.loads(body[8 : 8 + length])

    def sealed(data, modules):
        text = data if isinstance(data, bytes) else json.dumps(data).encode()
        inner = struct.pack("<Q", len(text)) + text + modules
        digest = hashlib.sha256(inner).digest()
        return header.pack(b"SAGAXEXP", 1, len(inner), digest) + inner

    modules = body[8 + length :]
    assert export.deserialize(sealed(data, modules)).fun_name == "model"
    one = data["exports"][0]
    for nonsense in [
        b"{",
        b"[]",
        {},
        {"exports": []},
        {"exports": [{}]},
        {"exports": [{**one, "modules": [["cpu", 3]]}]},
        {"exports": [{**one, "in_avals": one["in_avals"][:1]}]},
        {"exports": [{**one, "in_avals": [["float99", [], False]] * 3}]},
        {"exports": [{**one, "in_tree": ["pickle", None, []]}]},
        {"exports": [{**one, "kept": [7]}]},
        {"exports": [{**one, "out_avals": [["float32", ["b +"], False]]}]},
    ]:
        with pytest.raises(ValueError):
            export.deserialize(sealed(nonsense, modules))


def test_the_page_lists_every_operation(request):
    page = (request.path.parents[2] / "docs" / "export.md").read_text(encoding="utf-8")
    assert [row.name for row in (*ROWS, *REFUSED) if row.name not in page] == []


def test_an_export_is_not_bound_by_what_another_took_for_granted():
    """Sizes of one scope serve several exports: each checks its own assumptions only."""
    k, n = export.symbolic_shape("k, n")

    def compares(x, y):
        return (x if x.shape[0] == 1 else x + 1), y

    def sums(x):
        return x.sum()

    def keeps(x):
        return x if n == 1 else snp.zeros(n) + x.sum()  # a size that is no argument's

    first = export.export(sagax.jit(compares))(S((k,), "float32"), S((n,), "float32"))
    assert [str(a) for a in first.assumptions] == ["k != 1"]
    other = export.export(sagax.jit(sums))(S((k,), "float32"))
    assert other.assumptions == () and float(other.call(np.ones(1, np.float32))) == 1.0
    export.export(sagax.jit(sums), strict=True)(S((k,), "float32"))
    # what no argument has cannot hold here, what the function asks itself does
    third = export.export(sagax.jit(lambda x: x * 2 if x.shape[0] == 1 else x))(S((k,), "float32"))
    assert [str(a) for a in third.assumptions] == ["k != 1"]
    fourth = export.export(sagax.jit(lambda x, y: keeps(x)))(S((k,), "float32"), S((n,), "float32"))
    assert {str(a) for a in fourth.assumptions} >= {"n != 1"}
    assert fourth.call(np.ones(3, np.float32), np.ones(2, np.float32)).tolist() == [3.0, 3.0]
    with pytest.raises(InconclusiveDimensionOperation):
        export.export(sagax.jit(lambda x, y: compares(x, y)), strict=True)(
            S((k,), "float32"), S((n,), "float32")
        )


_INNER = {
    "jit": lambda g: sagax.jit(g),
    "jit of jit": lambda g: sagax.jit(sagax.jit(g)),
    "scan": lambda g: lambda z: lax.scan(lambda c, x: (g(c), x), z, None, length=1)[0],
    "scan of one body": lambda g: (lambda body: lambda z: lax.scan(body, z, None, length=1)[0])(
        lambda c, x: (g(c), x)
    ),
    "cond": lambda g: lambda z: lax.cond(z.sum() > 0, g, lambda z: z, z),
    "while": lambda g: lambda z: lax.fori_loop(0, 1, lambda i, z: g(z), z),
    "checkpoint": lambda g: sagax.checkpoint(g),
    "vmap": lambda g: sagax.jit(sagax.vmap(g)),
    "custom_jvp": lambda g: _with_rule(g),
    "eval_shape": lambda g: lambda z: z * len(sagax.eval_shape(_longer(g), z).shape),
    "jvp": lambda g: sagax.jit(lambda z: sagax.jvp(sagax.jit(g), (z,), (z,))[1]),
}


def _longer(g):
    return lambda z: g(z)[None]


def _with_rule(g):
    f = sagax.custom_jvp(g)
    f.defjvp(lambda primals, tangents: (f(*primals), tangents[0]))
    return f


@pytest.mark.parametrize("name", _INNER)
def test_an_inner_function_keeps_what_it_took_for_granted(name):
    """It compares a size that none of its arguments has, and its trace may be used by a second export."""
    (k,) = export.symbolic_shape("k")
    inner = _INNER[name](lambda z: z * 100 if k == 1 else z)

    def f(x):
        return x.sum() + inner(snp.ones(3)).sum()

    for scale in (1, 2, 3):
        e = export.export(sagax.jit(lambda x, scale=scale: f(x) * scale))(S((k,), "float32"))
        assert [str(a) for a in e.assumptions] == ["k != 1"]
        with pytest.raises(ValueError, match="took for granted that k != 1"):
            e.call(np.ones(1, np.float32))
