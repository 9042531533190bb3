"""Transformations composed: every order, three deep, against derivatives known in closed form."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import sagax
import sagax.numpy as snp
from sagax import lax

# Functions of one number, with their value and first three derivatives.
FUNCTIONS = {
    "x sin x": (
        lambda x: x * snp.sin(x),
        [
            lambda x: x * np.sin(x),
            lambda x: np.sin(x) + x * np.cos(x),
            lambda x: 2 * np.cos(x) - x * np.sin(x),
            lambda x: -3 * np.sin(x) - x * np.cos(x),
        ],
    ),
    "loop": (  # x^4, by a scan over a product
        lambda x: lax.fori_loop(0, 4, lambda i, p: p * x, 1.0),
        [lambda x: x**4, lambda x: 4 * x**3, lambda x: 12 * x**2, lambda x: 24 * x],
    ),
    "branches": (  # exp(x) + 1, the branch taken for positive x
        lambda x: lax.cond(x > 0, lambda y: snp.exp(y) + 1, lambda y: y * y, x),
        [lambda x: np.exp(x) + 1, np.exp, np.exp, np.exp],
    ),
}

# Each takes and gives a function of one number; the second entry tells how often it differentiates.
TRANSFORMS = {
    "jit": (sagax.jit, 0),
    "grad": (sagax.grad, 1),
    "jvp": (lambda f: lambda x: sagax.jvp(f, (x,), (snp.ones_like(x),))[1], 1),
    "vjp": (lambda f: lambda x: sagax.vjp(f, x)[1](snp.ones_like(f(x)))[0], 1),
    "linearize": (lambda f: lambda x: sagax.linearize(f, x)[1](snp.ones_like(x)), 1),
    "vmap": (lambda f: lambda x: sagax.vmap(f)(snp.stack([x + 1, x]))[1], 0),
    "checkpoint": (sagax.checkpoint, 0),
}


@pytest.mark.parametrize("transforms", list(itertools.product(TRANSFORMS, repeat=3)), ids="-".join)
@pytest.mark.parametrize("name", FUNCTIONS)
def test_three_deep(name, transforms):
    f, derivatives = FUNCTIONS[name]
    order = 0
    for t in transforms:
        transform, adds = TRANSFORMS[t]
        f = transform(f)
        order += adds
    x = 0.7
    np.testing.assert_allclose(f(snp.float32(x)), derivatives[order](x), rtol=3e-5)


@pytest.mark.smoke
def test_python_control_flow_on_concrete_values():
    def divide(x, y):
        return x / y if y >= 1.0 else 0.0 * x

    assert float(sagax.grad(divide)(3.0, 2.0)) == 0.5
    assert float(sagax.grad(divide)(3.0, 0.5)) == 0.0


@pytest.mark.smoke
def test_derivative_of_an_argument_that_is_not_used_is_zero_and_has_its_type():
    g = sagax.grad(lambda p: snp.sum(p["a"]))({"a": snp.ones(2), "b": snp.ones((3, 1))})
    assert g["b"].shape == (3, 1)
    np.testing.assert_array_equal(g["b"], 0)


@pytest.mark.smoke
def test_symbolic_zeros_are_never_made_into_arrays():
    def f(x, y):
        return snp.sin(x) + snp.cos(y)

    jaxpr = sagax.make_jaxpr(lambda x, y: sagax.jvp(lambda x: f(x, y), (x,), (x,)))(1.0, 2.0)
    assert [e.primitive.name for e in jaxpr.eqns].count(
        "cos"
    ) == 2  # cos y and the derivative of sin x
    assert "0.0" not in str(jaxpr)


@pytest.mark.smoke
def test_value_and_grad_with_aux_and_several_arguments():
    def loss(w, b, x):
        y = w * x + b
        return snp.sum(y**2), {"y": y}

    x = snp.array([1.0, 2.0])
    (value, aux), (gw, gb) = sagax.value_and_grad(loss, argnums=(0, 1), has_aux=True)(2.0, 1.0, x)
    y = 2.0 * np.array([1.0, 2.0]) + 1.0
    np.testing.assert_allclose(value, np.sum(y**2))
    np.testing.assert_allclose(aux["y"], y)
    np.testing.assert_allclose(gw, np.sum(2 * y * np.array([1.0, 2.0])))
    np.testing.assert_allclose(gb, np.sum(2 * y))


def test_holomorphic():
    z = np.complex64(1 + 2j)
    np.testing.assert_allclose(sagax.grad(lambda z: z**3, holomorphic=True)(z), 3 * z**2, rtol=1e-6)


def test_allow_int_gives_float0():
    g = sagax.grad(lambda i, x: x * 2.0, argnums=0, allow_int=True)(3, 1.0)
    assert g.dtype == sagax.dtypes.float0


@pytest.mark.smoke
def test_jacobians_and_hessian_of_a_pytree():
    def f(p):
        return {"u": snp.sin(p["x"]) * p["y"], "v": p["y"] ** 2}

    p = {"x": snp.array([0.1, 0.2]), "y": snp.array([3.0, 4.0])}
    forward, reverse = sagax.jacfwd(f)(p), sagax.jacrev(f)(p)
    x, y = np.array([0.1, 0.2]), np.array([3.0, 4.0])
    for jac in (forward, reverse):
        np.testing.assert_allclose(jac["u"]["x"], np.diag(np.cos(x) * y), rtol=1e-6)
        np.testing.assert_allclose(jac["u"]["y"], np.diag(np.sin(x)), rtol=1e-6)
        np.testing.assert_allclose(jac["v"]["x"], np.zeros((2, 2)))
        np.testing.assert_allclose(jac["v"]["y"], np.diag(2 * y), rtol=1e-6)
    h = sagax.hessian(lambda p: snp.sum(p["x"] * p["y"] ** 2))(p)
    np.testing.assert_allclose(h["x"]["y"], np.diag(2 * y))
    np.testing.assert_allclose(h["y"]["y"], np.diag(2 * x), rtol=1e-6)


def test_linear_transpose():
    matrix = np.arange(6.0, dtype=np.float32).reshape(2, 3)
    transposed = sagax.linear_transpose(lambda x: matrix @ x, snp.ones(3))
    (ct,) = transposed(snp.array([1.0, 10.0]))
    np.testing.assert_allclose(ct, matrix.T @ np.array([1.0, 10.0]))


@pytest.mark.smoke
def test_vmap_axes():
    x = np.arange(24.0, dtype=np.float32).reshape(2, 3, 4)
    total = lambda a: snp.sum(a, axis=0)  # noqa: E731
    np.testing.assert_allclose(sagax.vmap(total, in_axes=1)(x), x.sum(0))
    np.testing.assert_allclose(sagax.vmap(total, in_axes=-1, out_axes=-1)(x), x.sum(0))
    out = sagax.vmap(lambda d, y: d["a"] * y, in_axes=({"a": 0}, None))({"a": snp.arange(3.0)}, 2.0)
    np.testing.assert_allclose(out, [0, 2, 4])
    same = sagax.vmap(lambda a: (a, 7), out_axes=(0, None))(snp.arange(2))
    assert int(same[1]) == 7
    np.testing.assert_array_equal(sagax.vmap(lambda: 5, axis_size=3)(), [5, 5, 5])
    keyword = sagax.vmap(lambda a, *, b: a + b)(snp.arange(2), b=snp.arange(2))
    np.testing.assert_array_equal(keyword, [0, 2])


@pytest.mark.smoke
@pytest.mark.own_promotion("dtype")
def test_batched_predicates_and_loops():
    x = np.array([-1.0, 2.0, 3.0], np.float32)
    out = sagax.vmap(lambda v: lax.cond(v > 0, lambda a: a * 2, lambda a: -a, v))(x)
    np.testing.assert_allclose(out, [1, 4, 6])
    # lanes stop at different rounds; a finished lane would divide by zero if it went on
    n = np.array([1, 3, 0], np.int32)

    def countdown(k):
        def step(state):
            i, total = state
            return i - 1, total + 1.0 / i

        return lax.while_loop(lambda s: s[0] > 0, step, (k, 0.0))[1]

    np.testing.assert_allclose(sagax.vmap(countdown)(n), [1.0, 1 + 1 / 2 + 1 / 3, 0.0], rtol=1e-6)


@pytest.mark.smoke
def test_shared_inner_functions_are_traced_once():
    traced = []

    @sagax.jit
    def inner(x):
        traced.append(1)
        return snp.sin(x)

    sagax.jit(lambda x: inner(x) + inner(x * 2) + inner(x * 3))(1.0)
    assert len(traced) == 1


@pytest.mark.smoke
def test_fibonacci_of_nested_jits_is_linear():
    traced = []

    @sagax.jit
    def add(x, y):
        return x + y

    def fib(n, x):
        traced.append(n)
        return x if n < 2 else add(jitted(n - 1, x), jitted(n - 2, x))

    jitted = sagax.jit(fib, static_argnums=0)
    jaxpr = sagax.make_jaxpr(lambda x: jitted(20, x))(1.0)
    assert len(traced) == 21
    assert len(str(jaxpr)) < 20_000  # each jaxpr is printed once
    assert float(jitted(20, 1.0)) == 10946.0
    text = jitted.lower(20, 1.0).as_text()
    assert text.count("func.func") <= 23


class Node:
    """A node that tells what it is made of; some, such as those of e3nn, refuse wrong shapes."""

    seen: list = []

    def __init__(self, x):
        self.x = x
        self.seen.append(getattr(x, "shape", None))


def test_vmap_makes_nodes_of_final_results_only():
    """The mapped axis of this result is the second one, before it is moved to the front."""
    sagax.tree_util.register_pytree_node(Node, lambda n: ((n.x,), None), lambda _, xs: Node(*xs))
    w = np.ones((2, 3), "float32")

    def f(x):
        return Node(snp.einsum("uw,ui->wi", w, x))

    for out_axes, expected in ((0, [(5, 3, 1)]), (2, [(3, 1, 5)]), (Node(1), [None, (3, 5, 1)])):
        Node.seen.clear()
        out = sagax.vmap(f, out_axes=out_axes)(np.ones((5, 2, 1), "float32"))
        assert Node.seen[1:] == expected  # the first one is that of the function
        assert out.x.tolist() == np.full(expected[-1], 2.0).tolist()
