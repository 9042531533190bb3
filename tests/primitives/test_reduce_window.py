"""Reductions over windows: values, derivatives and batching as the oracle recorded them; errors."""

from __future__ import annotations

import json
import operator

import numpy as np
import pytest

import sagax
from convolution_cases import WINDOWS, distinct, numbers, random_window
from convolution_oracle import agrees, check_derivatives, check_maps, check_values
from sagax import lax
from sagax._src.core import dims, dtypes
from sagax._src.core.avals import intern_aval
from sagax._src.core.staging import stage
from sagax._src.higher_order.generic_windows import select_and_scatter
from sagax._src.lowering.module import lower_jaxpr, verify
from sagax._src.primitives.window_geometry import Window, padtype_to_pads, reduce_window_shape_tuple
from sagax.errors import SagaxError
from slicing_cases import directions

RANDOM = 60
INF = np.float32(np.inf)


@pytest.fixture(scope="module")
def data(oracle_data):
    return oracle_data("convolution")


@pytest.mark.parametrize("name", WINDOWS)
def test_values(name, data):
    check_values(name, WINDOWS[name], data)


@pytest.mark.parametrize("name", [n for n, c in WINDOWS.items() if c.maps])
def test_maps(name, data):
    check_maps(name, WINDOWS[name], data)


@pytest.mark.parametrize("name", [n for n, c in WINDOWS.items() if c.derivative])
def test_derivatives(name, data):
    check_derivatives(name, WINDOWS[name], data)


@pytest.mark.parametrize("k", range(RANDOM))
def test_random_forms(k, data):
    """Any size, stride, padding and dilation: the result, and the cotangent where jax has one."""
    spec = json.loads(str(data[f"window/{k}/spec"]))
    with_lax, (x,) = random_window(spec)
    want = data[f"window/{k}/out"]
    (ct,) = directions(f"window/{k}", [want])

    def result_and_cotangent(x, ct):
        out, pull = sagax.vjp(with_lax(lax), x)
        return out, *pull(ct)

    out, ct_x = sagax.jit(result_and_cotangent)(x, ct)
    agrees(out, want, f"{spec}")
    if f"window/{k}/ct/0" in data:
        agrees(ct_x, data[f"window/{k}/ct/0"], f"cotangent, {spec}")
    elif x.size:  # against the sum over windows of the cotangents of the selected elements
        agrees(ct_x, _cotangent_of_extremum(spec, x, ct), f"cotangent, {spec}")


def _cotangent_of_extremum(spec, x, ct):
    """By definition: the element equal to the extremum gets the window's cotangent (all differ)."""
    window = Window(*(tuple(spec[k]) for k in ("sizes", "strides")),
                    tuple(map(tuple, spec["padding"])),
                    *(tuple(spec[k]) for k in ("base_dilation", "window_dilation")))  # fmt: skip
    out = np.zeros_like(x)
    for number in np.ndindex(*ct.shape):
        found = []
        for offset in np.ndindex(*window.sizes):
            place = [
                o * s + k * d - low
                for o, s, k, d, (low, _) in zip(
                    number, window.strides, offset, window.window_dilation, window.padding
                )
            ]
            element = [p // b for p, b in zip(place, window.base_dilation)]
            on_grid = all(p % b == 0 for p, b in zip(place, window.base_dilation))
            # negative padding on the high side cuts elements off, so windows cannot reach them
            if on_grid and all(0 <= e < n for e, n in zip(element, x.shape)):
                found.append(tuple(element))
        if found:
            out[(max if spec["op"] == "max" else min)(found, key=lambda e: x[e])] += ct[number]
    return out


# Derivatives that jax has not -----------------------------------------------------------------------


def _numerical_gradient(fun, x):
    x = np.asarray(x, np.float64)
    out = np.zeros_like(x)
    for index in np.ndindex(*x.shape):
        step = np.zeros_like(x)
        step[index] = 1e-3
        out[index] = (fun(x + step) - fun(x - step)) / 2e-3
    return out


def _windows_by_loop(x, size, stride, low, high, dilation, fill):
    padded = np.pad(np.asarray(x, np.float64), (low, high), constant_values=fill)
    reach = (size - 1) * dilation + 1
    starts = range(0, len(padded) - reach + 1, stride)
    return [padded[i : i + reach : dilation] for i in starts]


def test_products_of_windows_have_gradients_in_both_modes():
    x = np.linspace(0.5, 2, 9).astype(np.float32)

    def products(x):
        return lax.reduce_window(x, 1.0, lax.mul, (3,), (2,), [(1, 2)], None, (2,))

    def by_loop(x):
        return sum(np.prod(w) ** 2 for w in _windows_by_loop(x, 3, 2, 1, 2, 2, 1.0))

    def loss(x):
        return (products(x) ** 2).sum()

    want = _numerical_gradient(by_loop, x)
    np.testing.assert_allclose(sagax.grad(loss)(x), want, rtol=1e-3)
    forward = sagax.jvp(loss, (x,), (np.eye(9, dtype=np.float32)[2],))[1]
    np.testing.assert_allclose(forward, want[2], rtol=1e-3)
    mapped = sagax.vmap(sagax.grad(loss))(np.stack([x, x[::-1]]))
    np.testing.assert_allclose(mapped[0], want, rtol=1e-3)
    np.testing.assert_allclose(sagax.jit(sagax.hessian(loss))(x), sagax.hessian(loss)(x), rtol=1e-5)


def test_zeros_in_products_make_no_nan():
    x = np.array([0, 2, 0, 3], np.float32)
    grad = sagax.grad(lambda x: lax.reduce_window(x, 1.0, lax.mul, (2,)).sum())(x)
    np.testing.assert_array_equal(grad, [2, 0, 5, 0])


def test_initial_values_have_gradients_and_examples():
    """With padding the initial value counts once for each window and each padded element."""
    x = np.arange(3, dtype=np.float32)

    def total(init):
        return lax.reduce_window(x, init, lax.add, (2,), (1,), [(1, 1)]).sum()

    assert sagax.grad(total)(0.0) == 4 + 2
    np.testing.assert_array_equal(sagax.vmap(total)(np.array([0, 1], np.float32)), [6, 12])


def test_computations_may_close_over_traced_values():
    x = np.arange(4, dtype=np.float32)

    def weighted(scale):
        return lax.reduce_window(x, 0.0, lambda a, b: a + scale * b, (2,)).sum()

    assert sagax.jit(weighted)(2.0) == weighted(2.0) == 2 * np.sum(x[1:] + x[:-1])
    assert sagax.grad(weighted)(2.0) == np.sum(x[1:] + x[:-1])


def test_several_operands_in_a_dictionary():
    x = {"sum": numbers(5), "product": numbers(5, salt="p")}
    start = {"sum": 0.0, "product": 1.0}

    def both(a, b):
        return {"sum": a["sum"] + b["sum"], "product": a["product"] * b["product"]}

    out = lax.reduce_window(x, start, both, (2,))
    np.testing.assert_array_equal(out["sum"], x["sum"][1:] + x["sum"][:-1])
    np.testing.assert_array_equal(out["product"], x["product"][1:] * x["product"][:-1])
    _, pull = sagax.vjp(lambda x: lax.reduce_window(x, start, both, (2,)), x)
    (ct,) = pull({"sum": np.zeros(4, "f"), "product": np.eye(4, dtype="f")[0]})
    np.testing.assert_array_equal(ct["product"][:2], x["product"][1::-1])


@pytest.mark.parametrize("op", ["add", "max", "min"])
def test_known_computations_become_primitives(op):
    """However they are spelled; and only with their neutral element."""
    init = {"add": 0.0, "max": -np.inf, "min": np.inf}[op]
    name = {"add": "sum"}.get(op, op)
    x = np.ones(4, np.float32)

    def program(computation, init):
        return str(sagax.make_jaxpr(lambda x: lax.reduce_window(x, init, computation, (2,)))(x))

    fun = getattr(lax, op)
    for computation in (fun, lambda a, b: fun(a, b), lambda a, b: fun(b, a)):
        assert f"reduce_window_{name}[" in program(computation, init)
    if op == "add":
        assert "reduce_window_sum[" in program(operator.add, init)
    assert "reduce_window[" in program(fun, 0.5)
    assert "reduce_window[" in program(lambda a, b: fun(a, a), init)


def test_compiled_once():
    """What is compiled for a computation is found again, also outside of jit."""
    x = np.ones(4, np.float32)
    lax.reduce_window(x, 1.0, lax.mul, (2,))
    first, second = (
        sagax.make_jaxpr(lambda x: lax.reduce_window(x, 1.0, lax.mul, (2,)))(x).eqns[0]
        for _ in range(2)
    )
    assert first.params["jaxpr"] is second.params["jaxpr"]


# select_and_scatter -------------------------------------------------------------------------------


def _selected(x, source):
    return select_and_scatter(
        x, lax.ge, (2, 2), (2, 1), [(1, 0), (0, 1)], source, np.float32(1), lax.add
    )


def _selected_by_loop(x, source):
    out = np.ones_like(x)
    for i, j in np.ndindex(*source.shape):
        inside = [
            (r, c)
            for r in (2 * i - 1, 2 * i)
            for c in (j, j + 1)
            if 0 <= r < x.shape[0] and 0 <= c < x.shape[1]
        ]
        out[max(inside, key=lambda place: x[place])] += source[i, j]
    return out


def test_select_and_scatter():
    x, source = distinct(4, 3), numbers(2, 3, salt="source")
    want = _selected_by_loop(x, source)
    np.testing.assert_array_equal(_selected(x, source), want)
    np.testing.assert_array_equal(sagax.jit(_selected)(x, source), want)
    stacked = np.stack([x, -x])
    mapped = sagax.vmap(_selected, (0, None))(stacked, source)
    np.testing.assert_array_equal(mapped[1], _selected_by_loop(-x, source))


def test_select_and_scatter_has_derivatives():
    x, source = distinct(4, 3), numbers(2, 3, salt="source")
    _, pull = sagax.vjp(lambda s: _selected(x, s), source)
    ct = numbers(4, 3, salt="ct")
    unit = [np.zeros_like(source) for _ in range(source.size)]
    for k, u in enumerate(unit):
        u.flat[k] = 1
    columns = [_selected_by_loop(x, u) - 1 for u in unit]
    np.testing.assert_array_equal(pull(ct)[0].ravel(), [np.sum(c * ct) for c in columns])


def test_select_and_scatter_of_a_scalar():
    """XLA aborts the process on one."""
    x = np.float32(3)

    def fun(x, s):
        return select_and_scatter(x, lax.ge, (), (), [], s, np.float32(5), lax.add)

    assert sagax.jit(fun)(x, np.float32(2)) == 7
    greatest = sagax.grad(lambda x: lax.reduce_window(x, -INF, lax.max, ()))
    assert sagax.jit(greatest)(x) == 1


def test_padding_is_not_selected():
    x = np.full(3, -5, np.float32)
    out = select_and_scatter(
        x, lax.ge, (2,), (1,), [(1, 1)], np.arange(1, 5, dtype=np.float32), 0.0, lax.add
    )
    np.testing.assert_array_equal(out, [1 + 2, 3, 4])


# Shapes and padding -------------------------------------------------------------------------------


def test_padding_by_name():
    assert padtype_to_pads((8, 7), (3, 2), (2, 2), "SAME") == [(0, 1), (0, 1)]
    assert padtype_to_pads((8, 7), (3, 2), (2, 2), "same_lower") == [(1, 0), (1, 0)]
    assert padtype_to_pads((8, 7), (3, 2), (2, 2), "VALID") == [(0, 0), (0, 0)]
    assert padtype_to_pads((8,), (1,), (3,), "SAME") == [(0, 0)]
    assert padtype_to_pads((8,), (3,), (1,), [(4, 5)]) == [(4, 5)]


def test_shape_alone():
    assert reduce_window_shape_tuple((8, 8), (3, 3), (2, 2), [(0, 0), (1, 1)]) == (3, 4)
    assert reduce_window_shape_tuple((4,), (2,), (1,), [(0, 0)], (3,), (4,)) == (6,)


@pytest.mark.parametrize("padding", ["VALID", "SAME", [(1, 2), (0, 0)]])
@pytest.mark.parametrize("dilation", [1, 2])
@pytest.mark.parametrize("op", ["add", "max", "mul"])
def test_symbolic_shapes(op, dilation, padding):
    """Staged for sizes b and n: for each size the shape is that of a concrete reduction.

    The program with the cotangent lowers to a module that verifies.
    """
    b, n = dims.symbolic_shape("b, n", constraints=["n >= 6"])
    init = {"add": 0.0, "max": -np.inf, "mul": 1.0}[op]

    def pool(x):
        return lax.reduce_window(
            x, init, getattr(lax, op), (3, 1), (2, 1), padding, None, (dilation, 1)
        )

    def with_cotangent(x):
        out, pull = sagax.vjp(pool, x)
        return [out, *pull(out)]

    x = intern_aval((n, b), np.dtype(np.float32), False, None)
    jaxpr, _ = stage(with_cotangent, [x])
    verify(lower_jaxpr(jaxpr, platform="cpu", name="f")[0])
    out, cotangent = jaxpr.out_avals
    assert cotangent.shape == x.shape
    for size in (6, 9):
        want = pool(np.zeros((size, 4), np.float32)).shape
        assert tuple(dims.evaluate(d, {"b": 4, "n": size}) for d in out.shape) == want


# Errors -------------------------------------------------------------------------------------------

X = np.zeros((4, 5), np.float32)


def _reduce(operand=X, init=0.0, computation=lax.add, sizes=(2, 2), *args, **how):
    return lambda: lax.reduce_window(operand, init, computation, sizes, *args, **how)


ERRORS = {
    "number of sizes": (_reduce(sizes=(2,)), TypeError, "window_dimensions must be 2 entries"),
    "size 0": (_reduce(sizes=(2, 0)), TypeError, "window_dimensions[1] must be at least 1; got 0"),
    "fraction": (_reduce(sizes=(2, 1.5)), TypeError, "window_dimensions"),
    "stride 0": (
        _reduce(window_strides=(0, 1), padding="SAME"), TypeError, "window_strides[0]",
    ),
    "dilation 0": (_reduce(window_dilation=(1, 0)), TypeError, "window_dilation[1]"),
    "padding name": (_reduce(padding="foo"), ValueError, "got 'foo'"),
    "padding pairs": (_reduce(padding=[(0, 0)]), TypeError, "padding must be 2 entries"),
    "padding of three": (_reduce(padding=[(0, 0, 0)] * 2), TypeError, "(low, high)"),
    "too negative padding": (
        _reduce(padding=[(-9, 0), (0, 0)]), ValueError,
        "dimension 0 of size 4 would get the negative size -5",
    ),
    "initial array": (
        _reduce(init=np.zeros(2, "f")), TypeError, "init_value must be a scalar; got float32[2]",
    ),
    "initial dtype": (
        _reduce(init=np.int32(1)), TypeError, "init_value must be dtype float32, as the operand",
    ),
    "comparison": (
        _reduce(computation=lambda a, b: a > b), TypeError,
        "computation does not return what it is given",
    ),
    "pair": (
        _reduce(computation=lambda a, b: (a, b)), ValueError,
        "the result of computation has another structure than operand",
    ),
    "structures": (
        _reduce((X, X), (0.0,)), ValueError, "operand and init_value have different structures",
    ),
    "shapes": (
        _reduce((X, X[:1]), (0.0, 0.0), lambda a, b: a), TypeError,
        "operand[1] must be shape (4, 5), as the first operand",
    ),
    "nothing": (_reduce((), ()), TypeError, "at least one array"),
    "sums of booleans": (_reduce(X > 0, False), TypeError, "bool"),
    "source": (
        lambda: select_and_scatter(
            X, lax.ge, (2, 2), (1, 1), [(0, 0)] * 2, X, np.float32(0), lax.add
        ),
        TypeError, "source must be shape (3, 4), the number of windows",
    ),
    "select": (
        lambda: select_and_scatter(
            X, lax.add, (2, 2), (1, 1), [(0, 0)] * 2, X[1:, 1:], np.float32(0), lax.add
        ),
        TypeError, "select does not return what it is given",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", ERRORS)
def test_errors(name):
    call, builtin, text = ERRORS[name]
    with pytest.raises(builtin) as caught:
        call()
    assert isinstance(caught.value, SagaxError)
    assert text in str(caught.value)


def test_no_array():
    with pytest.raises(TypeError, match="'a'"):
        lax.reduce_window("a", 0.0, lax.add, (1,))


# Sums and extrema from slices --------------------------------------------------------------------------

SLICED = {
    "overlapping": ((2, 9, 8, 3), (1, 3, 3, 1), (1, 1, 1, 1), "SAME"),
    "strided": ((2, 9, 8, 3), (1, 3, 2, 1), (1, 2, 3, 1), "SAME"),
    "large": ((1, 12, 11, 2), (1, 7, 5, 1), (1, 1, 2, 1), "SAME"),
    "three dimensions": ((6, 7, 8), (2, 3, 4), (1, 2, 1), ((1, 0), (0, 2), (-1, 1))),
    "whole": ((2, 5, 6), (1, 5, 6), (1, 1, 1), "VALID"),
}


@pytest.mark.parametrize("reduction", ["add", "max", "min"])
@pytest.mark.parametrize("case", SLICED.values(), ids=SLICED)
@pytest.mark.parametrize("dtype", [np.float32, np.int32])
def test_windows_of_several_dimensions_are_slices(case, reduction, dtype):
    shape, sizes, strides, padding = case
    x = (np.random.default_rng(0).standard_normal(shape) * 9).astype(dtype)
    init = {"add": 0, "max": -np.inf, "min": np.inf}[reduction]
    if reduction != "add" and dtype == np.int32:
        init = getattr(np.iinfo(np.int32), "min" if reduction == "max" else "max")
    init = dtype(init)

    def f(x):
        return lax.reduce_window(x, init, getattr(lax, reduction), sizes, strides, padding)

    (eqn,) = sagax.make_jaxpr(f)(x).jaxpr.eqns
    expected = eqn.primitive.rule("reference")(x, **eqn.params)
    compiled = sagax.jit(f)
    assert "reduce_window" not in compiled.lower(x).as_text()
    if dtype == np.int32 or reduction != "add":
        assert np.array_equal(compiled(x), expected)
    else:
        np.testing.assert_allclose(compiled(x), expected, rtol=1e-5, atol=3e-5)
    with sagax.config.context(exact=True):
        assert "reduce_window" in compiled.lower(x).as_text()


def test_windows_with_nan_and_infinities():
    x = np.array([[1, np.nan, 2, 3], [np.inf, 0, -np.inf, 1], [4, 5, 6, 7]], np.float32)
    found = sagax.jit(
        lambda x: lax.reduce_window(x, -np.inf, lax.max, (2, 2), (1, 1), "VALID")
    )(x)  # fmt: skip
    nan = np.nan
    assert np.array_equal(found, [[nan, nan, 3], [np.inf, 6, 7]], equal_nan=True)


def test_what_stays_a_window():
    ones = np.ones((20, 20), np.float32)

    def text(sizes, x=ones, **options):
        f = sagax.jit(
            lambda x: lax.reduce_window(x, 0.0, lax.add, sizes, (1, 1), "VALID", **options)
        )
        return f.lower(x).as_text()

    assert "reduce_window" in text((3, 1))  # XLA's loop along one dimension is quick
    assert "reduce_window" in text((17, 2))
    assert "reduce_window" in text((2, 2), base_dilation=(2, 2))  # one element in each
    assert "reduce_window" in text((2, 2), ones.astype(dtypes.bfloat16))
