"""Derivative and batching rules of one's own: custom_gradient, closure_convert, linear_call, custom_root,
custom_linear_solve, custom_vmap."""

from __future__ import annotations

import functools

import numpy as np
import pytest

import sagax
import sagax.custom_derivatives
import sagax.experimental.hijax
import sagax.numpy as snp
from check_derivatives import check_derivatives
from sagax import ad_checkpoint, lax
from sagax.custom_batching import custom_vmap, sequential_vmap
from sagax.custom_derivatives import linear_call
from sagax.custom_transpose import custom_transpose

# custom_gradient ------------------------------------------------------------------------------------


def test_custom_gradient_is_the_rule_in_every_transformation():
    @sagax.custom_gradient
    def f(x, p):
        y = snp.sin(x) * p["w"]
        return {"out": y}, lambda ct: (ct["out"] * x * 10, {"w": ct["out"] * y})

    def g(x, w):
        return f(x, {"w": w})["out"]

    x, w = 0.5, 2.0
    want = (5.0, np.sin(0.5) * 2)
    np.testing.assert_allclose(g(x, w), np.sin(0.5) * 2, rtol=1e-6)
    for wrap in (lambda f: f, sagax.jit, sagax.checkpoint):
        np.testing.assert_allclose(wrap(sagax.grad(wrap(g), (0, 1)))(x, w), want, rtol=1e-6)
    xs = np.float32([0.5, 1.0])
    got = sagax.vmap(sagax.grad(g), (0, None))(xs, w)
    np.testing.assert_allclose(got, xs * 10, rtol=1e-6)
    np.testing.assert_allclose(sagax.grad(sagax.grad(g))(x, w), 10.0, rtol=1e-6)


def test_custom_gradient_of_one_argument_may_return_its_cotangent_bare():
    assert float(sagax.grad(sagax.custom_gradient(lambda x: (x**2, lambda ct: ct * x)))(3.0)) == 3.0


def test_custom_gradient_that_closes_over_an_outer_value():
    def f(a, x):
        return sagax.custom_gradient(lambda x: (x * 2, lambda ct: (ct * a,)))(x)

    assert float(sagax.grad(f, 1)(7.0, 3.0)) == 7.0
    assert float(sagax.grad(lambda a: sagax.grad(f, 1)(a, 3.0))(7.0)) == 1.0
    np.testing.assert_array_equal(
        sagax.vmap(sagax.grad(f, 1))(np.float32([1, 2]), snp.ones(2)), [1, 2]
    )


@pytest.mark.parametrize(
    ("fun", "kind", "words"),
    [
        (lambda x: x, TypeError, "must return a pair"),
        (lambda x: (x, 3), TypeError, "must return a pair"),
        (lambda x: (x, lambda ct: (ct, ct)), TypeError, "a tuple of length 1"),
        (lambda x: (x, lambda ct: (snp.ones(3),)), ValueError, "the cotangent of x"),
    ],
)
def test_custom_gradient_used_wrongly(fun, kind, words):
    with pytest.raises(kind, match=words):
        sagax.grad(sagax.custom_gradient(fun))(1.0)


def test_custom_gradient_options_that_are_not_supported():
    kind = sagax.experimental.hijax.ValAccum
    with pytest.raises(NotImplementedError, match="both remat and with_accums"):
        sagax.custom_gradient(lambda x: (x, lambda ct: ct), remat=True, with_accums=kind)
    with pytest.raises(TypeError, match="with_accums must be ValAccum or RefAccum"):
        sagax.grad(sagax.custom_gradient(lambda x: (x, lambda ct, dx: None), with_accums=3))(1.0)
    with pytest.raises(TypeError, match="must return a pair"):
        sagax.grad(sagax.custom_gradient(lambda x: x, remat=True))(1.0)


# closure_convert ------------------------------------------------------------------------------------


def test_closure_convert_moves_what_is_differentiated():
    seen = []

    def f(y, k):
        converted, values = sagax.closure_convert(lambda x: snp.sin(x) * y + k, 1.0)
        seen.append(len(values))
        return converted(2.0, *values)

    np.testing.assert_allclose(sagax.grad(f)(3.0, 4), np.sin(2.0), rtol=1e-6)
    np.testing.assert_allclose(sagax.jit(f)(3.0, 4), np.sin(2.0) * 3 + 4, rtol=1e-6)
    np.testing.assert_allclose(f(3.0, 4), np.sin(2.0) * 3 + 4, rtol=1e-6)
    assert seen == [1, 1, 0]  # integers and plain values stay


def test_closure_convert_gives_a_rule_what_it_closes_over():
    def integral(fun):  # of fun from 0 to 1, by the midpoint rule; its derivative by that of fun
        converted, values = sagax.closure_convert(fun, 0.0)

        @sagax.custom_vjp
        def total(*values):
            return sum(converted((i + 0.5) / 10, *values) for i in range(10)) / 10

        def back(values, ct):
            _, pull = sagax.vjp(lambda *v: converted(0.5, *v), *values)
            return pull(ct)

        total.defvjp(lambda *values: (total(*values), values), back)
        return total(*values)

    got = sagax.grad(lambda a: integral(lambda x: a * a * x))(3.0)
    np.testing.assert_allclose(got, 2 * 3.0 * 0.5, rtol=1e-6)


def test_closure_convert_called_with_another_structure():
    converted, _ = sagax.closure_convert(lambda p: p["a"], {"a": 1.0})
    with pytest.raises(TypeError, match="another structure than the example"):
        converted({"b": 1.0})


# linear_call ----------------------------------------------------------------------------------------


def ten_times_back(r, x):
    return linear_call(lambda r, x: x / r, lambda r, ct: ct / r * 10, r, x)


def test_linear_call_and_its_transposes():
    assert float(ten_times_back(2.0, 3.0)) == 1.5
    f = lambda x: ten_times_back(2.0, x)  # noqa: E731
    back = sagax.linear_transpose(f, 1.0)
    assert float(back(1.0)[0]) == 5.0
    forth = sagax.linear_transpose(lambda ct: back(ct)[0], 1.0)
    assert float(forth(1.0)[0]) == 0.5
    assert float(sagax.grad(f)(3.0)) == 5.0
    assert float(sagax.jit(sagax.grad(f))(3.0)) == 5.0
    assert float(sagax.jvp(f, (3.0,), (1.0,))[1]) == 0.5
    assert float(sagax.grad(ten_times_back)(2.0, 3.0)) == -0.75


def test_linear_call_mapped():
    r, x = np.float32([1, 2, 4]), np.float32([3, 3, 3])
    np.testing.assert_allclose(sagax.vmap(ten_times_back)(r, x), x / r)
    np.testing.assert_allclose(sagax.vmap(ten_times_back, (0, None))(r, 3.0), x / r)
    np.testing.assert_allclose(sagax.vmap(sagax.grad(ten_times_back, 1))(r, x), 10 / r)
    total = sagax.grad(lambda x: sagax.vmap(ten_times_back, (0, None))(r, x).sum())
    np.testing.assert_allclose(total(3.0), (10 / r).sum())


def test_linear_call_closes_over_outer_values():
    def f(a, x):
        return linear_call(lambda _, x: x * a, lambda _, ct: ct * a, (), x)

    check_derivatives(f, (2.0, 3.0))
    np.testing.assert_allclose(sagax.vmap(f)(np.float32([1, 2]), np.float32([3, 4])), [3, 8])


def test_linear_call_with_a_transpose_of_another_type():
    with pytest.raises(TypeError, match="transpose output pytree structure"):
        linear_call(lambda r, x: x, lambda r, ct: (ct, ct), 2.0, 3.0)
    with pytest.raises(TypeError, match=r"the cotangent of linear_args\['w'\]"):
        linear_call(lambda r, x: x["w"], lambda r, ct: {"w": ct.sum()}, 2.0, {"w": snp.ones(3)})


# custom_transpose -----------------------------------------------------------------------------------


def scaled(times):
    """x / r for r, x with a transpose that is `times` as large."""
    divide = custom_transpose(lambda r, x: x / r)
    divide.def_transpose(lambda r, ct: ct / r * times)
    return divide


def test_custom_transpose_and_its_transposes():
    divide = scaled(10)
    f = lambda x: divide(2.0, x)  # noqa: E731
    back = sagax.linear_transpose(f, 1.0)
    assert float(f(3.0)) == 1.5
    assert float(back(1.0)[0]) == 5.0
    assert float(sagax.linear_transpose(lambda ct: back(ct)[0], 1.0)(1.0)[0]) == 0.5
    assert float(sagax.jit(sagax.grad(f))(3.0)) == 5.0
    assert float(sagax.jvp(f, (3.0,), (1.0,))[1]) == 0.5
    assert float(sagax.vjp(f, 3.0)[1](2.0)[0]) == 10.0
    assert float(sagax.grad(divide)(2.0, 3.0)) == -0.75
    assert divide.__name__ == "<lambda>"
    declared = sagax.ShapeDtypeStruct((), np.float32)
    assert float(sagax.grad(lambda x: divide(declared, 2.0, x))(3.0)) == 5.0


def test_custom_transpose_within_transformations():
    divide = scaled(10)
    r, x = np.float32([1, 2, 4]), np.float32([3, 6, 9])
    np.testing.assert_allclose(sagax.vmap(divide)(r, x), x / r)
    np.testing.assert_allclose(sagax.vmap(sagax.grad(divide, 1), (0, None))(r, 3.0), 10 / r)

    def through_scan(x):
        return lax.scan(lambda c, r: (divide(r, c), divide(r, c)), x, r)[0]

    assert float(through_scan(8.0)) == 1.0
    assert float(sagax.grad(through_scan)(8.0)) == 125.0
    assert float(sagax.grad(sagax.checkpoint(through_scan))(8.0)) == 125.0
    branch = lambda p, x: lax.cond(p, lambda x: divide(2.0, x), lambda x: x, x)  # noqa: E731
    np.testing.assert_allclose(
        sagax.vmap(sagax.grad(branch, 1), (0, None))(np.array([True, False]), 1.0), [5, 1]
    )
    assert "linear_call" in str(sagax.make_jaxpr(divide)(2.0, 3.0))
    shapes = sagax.eval_shape(divide, r, x)
    assert (shapes.shape, shapes.dtype) == ((3,), np.float32)


def test_custom_transpose_of_trees_closing_over_outer_values():
    def f(a, x, y):
        mix = custom_transpose(lambda _, p: {"u": a * p["x"] + p["y"], "v": p["y"]})
        mix.def_transpose(lambda _, ct: {"x": a * ct["u"], "y": ct["u"] + ct["v"]})
        out = mix((), {"x": x, "y": y})
        return out["u"] * out["v"]

    check_derivatives(f, (2.0, 3.0, 4.0))


def test_custom_transpose_of_a_function_that_has_no_derivative():
    def outside(x):
        return sagax.pure_callback(lambda v: np.float32(3 * v), sagax.typeof(x), x)

    triple = custom_transpose(lambda _, x: outside(x))
    triple.def_transpose(lambda _, ct: outside(ct))
    assert float(sagax.grad(lambda x: triple((), x) ** 2)(2.0)) == 36.0


def test_custom_transpose_errors_name_function_rule_and_leaf():
    @custom_transpose
    def halves(r, x):
        return {"a": x["w"] / 2}

    x = {"w": snp.ones(3)}
    with pytest.raises(AttributeError, match="No transpose defined for .* halves"):
        halves((), x)
    halves.def_transpose(lambda r, ct: {"w": ct["a"].sum()})
    with pytest.raises(TypeError) as caught:
        halves((), x)
    assert "custom_transpose of halves" in str(caught.value)
    assert "<lambda> must return cotangents" in str(caught.value)
    assert "the cotangent of linear_args['w']" in str(caught.value)
    halves.def_transpose(lambda r, ct: ct["a"] / 2)
    with pytest.raises(TypeError, match="transpose output pytree structure"):
        halves((), x)
    halves.def_transpose(lambda r, ct: {"w": ct["a"] / 2})
    with pytest.raises(TypeError, match="halves must return what out_types says"):
        halves({"a": sagax.ShapeDtypeStruct((2,), np.float32)}, (), x)
    with pytest.raises(TypeError, match="another structure than out_types"):
        halves(sagax.ShapeDtypeStruct((3,), np.float32), (), x)
    with pytest.raises(TypeError, match="out_types holds a shape and a dtype"):
        halves({"a": 3.0}, (), x)
    with pytest.raises(TypeError, match="takes its residual arguments and its linear arguments"):
        halves(x)
    with pytest.raises(TypeError, match="linear arguments only"):
        sagax.linear_transpose(lambda r: scaled(1)(r, 2.0), 1.0)(1.0)
    with pytest.raises(TypeError, match="the rule is a function"):
        halves.def_transpose(3)


# custom_root ----------------------------------------------------------------------------------------


def newton(f, x):
    return lax.while_loop(
        lambda s: (s[1] < 30) & (abs(f(s[0])) > 1e-13),
        lambda s: (s[0] - f(s[0]) / sagax.grad(f)(s[0]), s[1] + 1),
        (x, 0),
    )[0]


def cube_root(a):
    return lax.custom_root(lambda x: x**3 - a, 1.0, newton, lambda g, y: y / g(1.0))


def test_custom_root():
    check_derivatives(cube_root, (2.0,))
    with sagax.enable_x64(True):
        a = np.float64([1.0, 2.0, 8.0])
        np.testing.assert_allclose(sagax.vmap(cube_root)(a), np.cbrt(a), rtol=1e-9)
        slopes = np.cbrt(a) / (3 * a)
        for g in (sagax.vmap(sagax.grad(cube_root)), sagax.jit(sagax.vmap(sagax.grad(cube_root)))):
            np.testing.assert_allclose(g(a), slopes, rtol=1e-9)
        total = sagax.grad(lambda a: sagax.vmap(cube_root)(a).sum())
        np.testing.assert_allclose(total(a), slopes, rtol=1e-9)


def test_custom_root_of_a_system_with_auxiliary_data():
    def solve(f, x):
        step = lambda _, x: x - snp.linalg.solve(sagax.jacfwd(f)(x), f(x))  # noqa: E731
        return lax.fori_loop(0, 12, step, x), {"steps": 12}

    def f(p):
        x, aux = lax.custom_root(
            lambda x: snp.stack([x[0] ** 2 + x[1] - p["a"], x[0] - p["b"] * x[1]]),
            snp.ones(2),
            solve,
            lambda g, y: snp.linalg.solve(sagax.jacfwd(g)(y), y),
            has_aux=True,
        )
        return x + 0 * aux["steps"]

    check_derivatives(lambda a, b: f({"a": a, "b": b}), (2.0, 0.7), order=1)


@pytest.mark.parametrize(
    ("f", "solve", "tangent_solve", "words"),
    [
        (lambda x: (x, x), lambda f, x: x, lambda g, y: y, r"f\(\) output pytree structure"),
        (lambda x: x, lambda f, x: (x, x), lambda g, y: y, r"solve\(\) output pytree structure"),
        (lambda x: x, lambda f, x: snp.ones(3), lambda g, y: y, r"solve\(\) output shapes"),
        (lambda x: x, lambda f, x: x, lambda g, y: (y, y), r"tangent_solve\(\) output pytree"),
        (lambda x: x, lambda f, x: x, 3, "tangent_solve must be a function"),
    ],
)
def test_custom_root_used_wrongly(f, solve, tangent_solve, words):
    with pytest.raises(TypeError, match=words):
        sagax.grad(lambda a: lax.custom_root(lambda x: f(x - a), 1.0, solve, tangent_solve))(1.0)


# custom_linear_solve --------------------------------------------------------------------------------


def solve_by_inverse(matvec, b):
    return snp.linalg.solve(sagax.jacfwd(matvec)(b), b)


def solution(a, b, **options):
    if not options:
        options = {"transpose_solve": solve_by_inverse}
    return lax.custom_linear_solve(lambda x: a @ x, b, solve_by_inverse, **options)


A = np.float64([[3.0, 1.0], [0.5, 2.0]])
B = np.float64([1.0, 2.0])


def test_custom_linear_solve():
    check_derivatives(solution, (A, B))
    np.testing.assert_allclose(
        solution(A.astype(np.float32), B.astype(np.float32)), np.linalg.solve(A, B), atol=1e-6
    )


def test_custom_linear_solve_symmetric():
    symmetric = lambda m, b: solution(m + m.T, b, symmetric=True)  # noqa: E731
    check_derivatives(symmetric, (A, B), order=1)


def test_custom_linear_solve_mapped():
    with sagax.enable_x64(True):
        a, b = np.stack([A, 2 * A, A.T]), np.stack([B, B, -B])
        want = [np.linalg.solve(m, v) for m, v in zip(a, b, strict=True)]
        np.testing.assert_allclose(sagax.vmap(solution)(a, b), want)
        np.testing.assert_allclose(
            sagax.vmap(solution, (None, 0))(A, b), [np.linalg.solve(A, v) for v in b]
        )
        pull = sagax.grad(lambda a, b: solution(a, b).sum(), 1)
        want = [np.linalg.solve(m.T, np.ones(2)) for m in a]
        np.testing.assert_allclose(sagax.vmap(pull)(a, b), want)
        np.testing.assert_allclose(sagax.jit(sagax.vmap(pull))(a, b), want)


def test_custom_linear_solve_with_auxiliary_data():
    x, aux = lax.custom_linear_solve(
        lambda x: 2 * x, snp.ones(2), lambda mv, b: (b / 2, {"n": 3}), has_aux=True
    )
    np.testing.assert_array_equal(x, [0.5, 0.5])
    assert int(aux["n"]) == 3


def test_custom_linear_solve_in_reverse_mode_without_a_transposed_solve():
    f = lambda b: lax.custom_linear_solve(lambda x: 2 * x, b, lambda mv, b: b / 2).sum()  # noqa: E731
    assert float(sagax.jvp(f, (snp.ones(2),), (snp.ones(2),))[1]) == 1.0
    with pytest.raises(TypeError, match="transpose_solve required") as error:
        sagax.grad(f)(snp.ones(2))
    assert "symmetric=True" in str(error.value)


@pytest.mark.parametrize(
    ("matvec", "solve", "words"),
    [
        (lambda x: (x, x), lambda mv, b: b, r"matvec\(\) output pytree structure must match b"),
        (lambda x: x[:1], lambda mv, b: b, r"matvec\(\) output shapes must match b"),
        (lambda x: x, lambda mv, b: (b, b), r"solve\(\) output pytree structure must match b"),
        (lambda x: x, lambda mv, b: b.astype("int32"), r"solve\(\) output dtypes must match b"),
    ],
)
def test_custom_linear_solve_used_wrongly(matvec, solve, words):
    with pytest.raises(ValueError, match=words):
        lax.custom_linear_solve(matvec, snp.ones(2), solve)


# custom_vmap ----------------------------------------------------------------------------------------


def marked():
    """x * y + 1, which says so when it is mapped: a thousand is added."""

    @custom_vmap
    def f(x, y):
        return snp.sin(x) * y + 1

    seen = []

    @f.def_vmap
    def rule(axis_size, in_batched, x, y):
        seen.append((axis_size, in_batched))
        return snp.sin(x) * y + 1001, True

    return f, seen


def test_custom_vmap_uses_the_rule_under_vmap_only():
    f, seen = marked()
    xs = np.float32([0.1, 0.2, 0.3])
    np.testing.assert_allclose(f(0.1, 2.0), np.sin(0.1) * 2 + 1, rtol=1e-6)
    np.testing.assert_allclose(sagax.jit(f)(0.1, y=2.0), np.sin(0.1) * 2 + 1, rtol=1e-6)
    assert seen == []
    np.testing.assert_allclose(sagax.vmap(f, (0, None))(xs, 2.0), np.sin(xs) * 2 + 1001, rtol=1e-6)
    assert seen == [(3, [True, False])]
    np.testing.assert_allclose(
        sagax.jit(sagax.vmap(f, (None, 0)))(0.1, xs), np.sin(0.1) * xs + 1001, rtol=1e-6
    )
    assert seen[1:] == [(3, [False, True])]
    m = np.ones((2, 3), np.float32)
    np.testing.assert_allclose(sagax.vmap(sagax.vmap(f))(m, m), np.sin(m) + 1001, rtol=1e-6)


def test_custom_vmap_and_derivatives_in_either_order():
    f, _ = marked()
    xs = np.float32([0.1, 0.2, 0.3])
    slopes = np.cos(xs) * 2
    g = lambda x: f(x, 2.0)  # noqa: E731
    out, tangent = sagax.jvp(sagax.vmap(g), (xs,), (np.ones(3, np.float32),))
    np.testing.assert_allclose(out, np.sin(xs) * 2 + 1001, rtol=1e-6)
    np.testing.assert_allclose(tangent, slopes, rtol=1e-6)
    out, tangent = sagax.vmap(lambda x: sagax.jvp(g, (x,), (1.0,)))(xs)
    np.testing.assert_allclose(out, np.sin(xs) * 2 + 1001, rtol=1e-6)
    np.testing.assert_allclose(tangent, slopes, rtol=1e-6)
    np.testing.assert_allclose(sagax.grad(lambda x: sagax.vmap(g)(x).sum())(xs), slopes, rtol=1e-6)
    values, grads = sagax.vmap(sagax.value_and_grad(g))(xs)
    np.testing.assert_allclose(values, np.sin(xs) * 2 + 1001, rtol=1e-6)
    np.testing.assert_allclose(grads, slopes, rtol=1e-6)
    check_derivatives(g, (0.3,))


def test_custom_vmap_closing_over_an_outer_value():
    def f(z, xs):
        h = custom_vmap(lambda x: x * z)
        h.def_vmap(lambda size, which, x: (x * z + 100, True))
        return sagax.vmap(h)(xs).sum()

    xs = np.float32([0, 1, 2])
    assert float(sagax.jit(f)(2.0, xs)) == 306.0
    assert float(sagax.grad(f)(2.0, xs)) == 3.0

    def mapped(z, x):
        h = custom_vmap(lambda x: x * z)
        h.def_vmap(lambda size, which, x: (x, True))
        return h(x)

    with pytest.raises(TypeError, match="closes over a value that vmap maps"):
        sagax.vmap(mapped)(xs, xs)


def test_custom_vmap_with_an_output_that_is_not_mapped():
    f = custom_vmap(lambda x, y: (x, {"y": y}))
    f.def_vmap(lambda size, which, x, y: ((x, {"y": y}), (True, {"y": False})))
    x, rest = sagax.vmap(f, (0, None), (0, None))(snp.arange(3), 5)
    np.testing.assert_array_equal(x, [0, 1, 2])
    assert int(rest["y"]) == 5


@pytest.mark.parametrize(
    ("rule", "kind", "words"),
    [
        (lambda n, b, x: x, TypeError, r"must return a pair \(out, out_batched\)"),
        (lambda n, b, x: (x, (True, True)), ValueError, "structure of output value"),
        (lambda n, b, x: ((x, x), (True, True)), ValueError, "must return what"),
        (lambda n, b, x: (x[:2], True), TypeError, "stack the examples along axis 0"),
        (lambda n, b, x: (x, False), TypeError, "True in out_batched"),
        (lambda n, b, x: (x.astype("int32"), True), TypeError, "expected: float32"),
        (lambda n, b, x: (x, 1), TypeError, "True or False"),
    ],
)
def test_custom_vmap_with_a_wrong_rule(rule, kind, words):
    f = custom_vmap(lambda x: x)
    f.def_vmap(rule)
    with pytest.raises(kind, match=words):
        sagax.vmap(f)(snp.arange(3.0))


def test_custom_vmap_without_a_rule():
    with pytest.raises(AttributeError, match="No batching rule defined"):
        custom_vmap(lambda x: x)(1.0)


def test_custom_vmap_of_a_method():
    class Scale:
        k = 3.0

        @custom_vmap
        def times(self, x):
            return x * 3.0

        @times.def_vmap
        @staticmethod
        def rule(size, which, this, x):
            return x * 30.0, True

    sagax.tree_util.register_static(Scale)
    scale = Scale()
    assert float(scale.times(2.0)) == 6.0
    np.testing.assert_array_equal(sagax.vmap(scale.times)(np.float32([1, 2])), [30, 60])


def test_sequential_vmap():
    f = sequential_vmap(lambda x, p: {"s": snp.sin(x) + p["a"]})
    xs = np.float32([0.1, 0.2, 0.3])
    got = sagax.vmap(f, (0, None))(xs, {"a": 1.0})["s"]
    np.testing.assert_allclose(got, np.sin(xs) + 1, rtol=1e-6)
    jaxpr = sagax.make_jaxpr(sagax.vmap(f, (0, None)))(xs, {"a": 1.0})
    assert [e.primitive.name for e in jaxpr.eqns] == ["scan"]
    total = lambda x: sagax.vmap(f, (0, None))(x, {"a": 1.0})["s"].sum()  # noqa: E731
    np.testing.assert_allclose(sagax.grad(total)(xs), np.cos(xs), rtol=1e-6)


# what is public -------------------------------------------------------------------------------------


def test_namespaces():
    names = sagax.custom_derivatives
    assert names.custom_jvp is sagax.custom_jvp and names.custom_vjp is sagax.custom_vjp
    zero = names.zero_from_primal(snp.ones(3), symbolic_zeros=True)
    assert isinstance(zero, names.SymbolicZero) and zero.shape == (3,)
    assert names.zero_from_primal(snp.arange(3)).dtype == sagax.float0
    wrapped = {"x": names.CustomVJPPrimal(1.5, True)}
    assert names.custom_vjp_primal_tree_values(wrapped) == {"x": 1.5}


# custom_vjp and checkpoint --------------------------------------------------------------------------


def test_a_forward_rule_with_outputs_of_another_dtype():
    f = sagax.custom_vjp(lambda x: x * 2)
    f.defvjp(lambda x: ((x * 2).astype("float16"), None), lambda _, ct: (ct,))
    with pytest.raises(TypeError, match="shape and dtype that the function itself produces"):
        sagax.jit(sagax.grad(lambda x: sagax.jit(f)(x).astype("float32")))(1.0)


def test_symbolic_zeros_of_custom_vjp():
    seen = []

    @sagax.custom_vjp
    def f(x, y):
        return x * y, x + y

    def forward(x, y):
        seen.append((x.perturbed, y.perturbed))
        x, y = sagax.custom_derivatives.custom_vjp_primal_tree_values((x, y))
        return f(x, y), (x, y)

    def backward(residuals, cts):
        seen.append([isinstance(c, sagax.custom_derivatives.SymbolicZero) for c in cts])
        return cts[0] * residuals[1], None

    f.defvjp(forward, backward, symbolic_zeros=True)
    assert float(sagax.grad(lambda x: f(x, 3.0)[0])(2.0)) == 3.0
    assert seen == [(True, False), [False, True]]


@pytest.mark.parametrize("optimize", [False, True])
def test_optimize_remat_keeps_the_forward_rule_out_of_the_first_pass(optimize):
    f = sagax.custom_vjp(snp.sin)
    rules = (lambda x: (snp.log(snp.exp(snp.sin(x))), snp.cos(x)), lambda r, ct: (ct * r * 2,))
    f.defvjp(*rules, optimize_remat=optimize)
    g = sagax.checkpoint(lambda x: f(x) ** 2)
    for wrap in (lambda h: h, sagax.jit, lambda h: lambda x: sagax.vmap(h)(snp.stack([x, x]))[0]):
        got = wrap(sagax.grad(g))(1.0)
        np.testing.assert_allclose(got, 4 * np.sin(1) * np.cos(1), rtol=1e-6)
    first = str(sagax.make_jaxpr(lambda x: sagax.vjp(g, x)[0])(1.0))
    assert ("log" in first) is not optimize


def test_checkpoint_with_static_arguments_by_name():
    @functools.partial(sagax.checkpoint, static_argnames=("flag",))
    def f(x, flag):
        return snp.sin(x) if flag else x

    np.testing.assert_allclose(sagax.grad(f)(1.0, True), np.cos(1.0), rtol=1e-6)
    assert float(sagax.grad(f)(1.0, flag=False)) == 1.0
    with pytest.raises(ValueError, match="names of parameters of"):
        sagax.checkpoint(lambda x: x, static_argnames="y")


POLICIES = (
    "everything_saveable",
    "nothing_saveable",
    "dots_saveable",
    "checkpoint_dots",
    "dots_with_no_batch_dims_saveable",
    "checkpoint_dots_with_no_batch_dims",
)


@pytest.mark.parametrize(
    "policy",
    [
        *(getattr(sagax.checkpoint_policies, name) for name in POLICIES),
        sagax.checkpoint_policies.save_only_these_names("a"),
        sagax.checkpoint_policies.save_any_names_but_these("a"),
        sagax.checkpoint_policies.save_anything_except_these_names("a"),
        sagax.checkpoint_policies.save_from_both_policies(
            sagax.checkpoint_policies.dots_saveable,
            sagax.checkpoint_policies.save_only_these_names("a"),
        ),
        sagax.checkpoint_policies.offload_dot_with_no_batch_dims("device", "pinned_host"),
        sagax.checkpoint_policies.save_and_offload_only_these_names(
            names_which_can_be_saved=["a"],
            names_which_can_be_offloaded=["b"],
            offload_src="device",
            offload_dst="pinned_host",
        ),
        lambda prim, *_, **__: (
            ad_checkpoint.Saveable if prim.name == "sin" else ad_checkpoint.Recompute
        ),
    ],
)
def test_gradients_do_not_depend_on_the_policy(policy):
    m = np.float32([[0.3, -0.2], [0.1, 0.4]])

    def f(x):
        a = ad_checkpoint.checkpoint_name(snp.sin(m @ x), "a")
        return snp.sin(ad_checkpoint.checkpoint_name(m @ a, "b")).sum()

    x = np.float32([0.5, 0.7])
    np.testing.assert_allclose(
        sagax.grad(sagax.checkpoint(f, policy=policy))(x), sagax.grad(f)(x), rtol=1e-6
    )


def test_named_values_are_kept_and_others_computed_again():
    def f(x):
        return snp.sin(ad_checkpoint.checkpoint_name(snp.cos(x), "c"))

    def cosines(policy):
        g = sagax.checkpoint(f, policy=policy)
        return str(sagax.make_jaxpr(sagax.grad(g))(1.0)).count("= cos")

    save = sagax.checkpoint_policies.save_only_these_names
    # forward cos x; backward cos(cos x), and cos x again where it is not kept
    assert [cosines(None), cosines(save("other")), cosines(save("c"))] == [3, 3, 2]


def test_cotangents_of_integers_reach_a_vjp_rule_as_float0():
    seen = []

    @sagax.custom_vjp
    def f(x):
        return 2 * x, snp.int32(3)

    def backward(_, cotangents):
        seen.append(cotangents[1].dtype)
        return (2 * cotangents[0],)

    f.defvjp(lambda x: (f(x), None), backward)
    for gradient in (sagax.grad(lambda x: f(x)[0]), sagax.jit(sagax.grad(lambda x: f(x)[0]))):
        assert gradient(1.0) == 2
    assert seen and all(dtype == sagax.dtypes.float0 for dtype in seen)
