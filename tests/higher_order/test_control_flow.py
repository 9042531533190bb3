"""scan, while_loop, fori_loop, cond, switch, map and associative_scan beside plain Python."""

from __future__ import annotations

import numpy as np
import pytest

import sagax
import sagax.numpy as snp
from check_derivatives import check_derivatives
from sagax import lax

XS = np.float32([0.5, 1.5, 2.5, 3.5])


def names(jaxpr):
    return [e.primitive.name for e in jaxpr.eqns]


# derivatives ------------------------------------------------------------------------------------------


def test_scan_to_second_order():
    def f(w, c, xs):
        def body(carry, x):
            a, b = carry
            return (snp.sin(a * w.sum()) + x, b), {"y": a * b + snp.cos(w).sum()}

        return lax.scan(body, (c, 2.0), xs, reverse=True, unroll=2)

    check_derivatives(f, (np.float64([0.3, 0.7]), 0.4, np.float64([0.1, 0.2, 0.3])))


def test_cond_and_switch_to_second_order():
    def f(x, w):
        y = lax.cond(x > 0, lambda: snp.sin(x) * w, lambda: x * x)
        return y + lax.switch(2, [lambda v: v, lambda v: v * w, lambda v: snp.exp(v) * w], x)

    check_derivatives(f, (0.5, 1.3))


def test_map_and_associative_scan_to_second_order():
    def f(xs):
        a = lax.map(lambda x: snp.sin(x) * x, xs, batch_size=2)
        return lax.associative_scan(lambda p, q: (p[0] * q[0], p[1] * q[0] + q[1]), (a, xs))

    check_derivatives(f, (np.float64([0.5, 0.7, 0.9]),))


def test_loops_inside_loops_and_branches():
    def f(x):
        def outer(i, c):
            inner = lax.scan(lambda d, y: (d * 0.5 + y * x, d), c, np.arange(3.0) * 0.1)[0]
            return lax.cond(inner > 0.5, lambda v: v * x, snp.sin, inner)

        return lax.fori_loop(0, 3, outer, x)

    check_derivatives(f, (0.8,))


def test_a_composite_operation_that_holds_a_scan_can_be_transposed():
    from sagax._src.core.primitive import Primitive

    running = Primitive("running_total")
    running.abstract_rule = lambda x: x
    running.composite_rule = lambda x: lax.scan(lambda c, v: (c + v * v, c * v), x[0], x)[1]
    f = lambda x: running.bind(x).sum()  # noqa: E731
    plain = lambda x: lax.scan(lambda c, v: (c + v * v, c * v), x[0], x)[1].sum()  # noqa: E731
    x = snp.asarray(XS)
    for transform in (
        sagax.grad,
        sagax.jacfwd,
        lambda f: sagax.grad(lambda x: (sagax.grad(f)(x) ** 2).sum()),
    ):
        np.testing.assert_allclose(transform(f)(x), transform(plain)(x), rtol=1e-5)
    xs = snp.stack([x, 2 * x])
    np.testing.assert_allclose(sagax.vmap(f)(xs), sagax.vmap(plain)(xs), rtol=1e-6)


@pytest.mark.parametrize(
    "f",
    [lambda x: x * x, lambda x: x @ x, lambda x: 1 / x, lambda x: snp.where(x > 0, x, 0)],
    ids=["product", "dot", "quotient", "where"],
)
@pytest.mark.parametrize("jit", [False, True])
def test_the_transpose_of_what_is_not_linear(f, jit):
    x = snp.ones(3)
    f = sagax.jit(f) if jit else f
    with pytest.raises(TypeError, match="linear in its arguments") as error:
        sagax.linear_transpose(f, x)(f(x))
    assert "transpose its derivative" in str(error.value)


# batching -----------------------------------------------------------------------------------------------


def test_a_branch_that_is_not_chosen_cannot_spoil_derivatives_with_nan():
    f = lambda x: lax.cond(x > 0, snp.sqrt, lambda v: v * 2, x)  # noqa: E731
    xs = np.float32([4.0, 0.0])
    for wrap in (lambda g: g, sagax.jit):
        np.testing.assert_array_equal(
            wrap(sagax.grad(lambda x: sagax.vmap(f)(x).sum()))(xs), [0.25, 2.0]
        )
        np.testing.assert_array_equal(wrap(sagax.vmap(sagax.grad(f)))(xs), [0.25, 2.0])


def test_an_example_that_is_done_keeps_its_value_and_tangent():
    f = lambda x: lax.while_loop(lambda c: c > 1, snp.log, x)  # noqa: E731
    xs = np.float32([-1.0, 20.0, 3.0])
    want = [-1.0, np.log(np.log(20.0)) if np.log(20) > 1 else 0, 0.0]
    want[1], want[2] = (float(f(x)) for x in xs[1:])
    values, tangents = sagax.jvp(sagax.vmap(f), (xs,), (np.ones(3, np.float32),))
    np.testing.assert_allclose(values, want, rtol=1e-6)
    np.testing.assert_allclose(
        tangents, [float(sagax.jvp(f, (x,), (1.0,))[1]) for x in xs], rtol=1e-6
    )
    assert np.isfinite(tangents).all()


def test_examples_choose_their_own_branch_and_number_of_rounds():
    index = np.int32([-5, 1, 7])
    got = sagax.vmap(lambda i: lax.switch(i, [lambda: 1, lambda: 10, lambda: 100]))(index)
    np.testing.assert_array_equal(got, [1, 10, 100])
    got = sagax.vmap(lambda n: lax.fori_loop(0, n, lambda i, c: c + i, 0))(np.int32([0, 1, 4]))
    np.testing.assert_array_equal(got, [0, 0, 6])


def test_what_does_not_differ_between_examples_is_done_once():
    f = lambda x: lax.while_loop(lambda s: s[0] < 3, lambda s: (s[0] + 1, s[1] * x), (0, 1.0))  # noqa: E731
    jaxpr = sagax.make_jaxpr(sagax.vmap(f))(XS)
    (loop,) = [e for e in jaxpr.eqns if e.primitive.name == "while"]
    assert [v.aval.shape for v in loop.outvars] == [(), (4,)]


# what a loop carries --------------------------------------------------------------------------------------


def test_what_no_round_changes_is_not_carried():
    def f(a, x):
        return lax.while_loop(
            lambda s: s[0] < 5, lambda s: (s[0] + 1, s[1], s[2] * s[1]), (0, a, x)
        )

    jaxpr = sagax.make_jaxpr(f)(2.0, 3.0)
    (loop,) = jaxpr.eqns
    assert len(loop.outvars) == 2
    assert float(f(2.0, 3.0)[2]) == 96.0
    # so the unchanged value can be differentiated in reverse mode, though the loop cannot
    assert float(sagax.grad(lambda a: f(a, 3.0)[1])(2.0)) == 1.0


def test_slices_that_are_handed_on_are_not_written():
    f = lambda xs: lax.scan(lambda c, x: (c, (x, c + x)), 2.0, xs)  # noqa: E731
    c, (same, shifted) = f(XS)
    assert float(c) == 2.0
    np.testing.assert_array_equal(same, XS)
    np.testing.assert_array_equal(shifted, XS + 2)
    (loop,) = sagax.make_jaxpr(f)(XS).eqns
    assert len(loop.outvars) == 1
    g = sagax.grad(lambda xs: (f(xs)[1][0] * f(xs)[1][1]).sum())(XS)
    np.testing.assert_allclose(g, 2 * XS + 2)


def test_what_every_round_computes_alike_is_computed_once():
    def loss(w, xs):
        return lax.scan(lambda c, x: (c + snp.tanh(w) * x * c, None), 1.0, xs)[0]

    known = sagax.make_jaxpr(lambda w, xs: sagax.vjp(loss, w, xs)[1](1.0))(0.3, XS)
    forward = next(e for e in known.eqns if e.primitive.name == "scan")
    widths = [v.aval.shape for v in forward.outvars]
    assert (
        widths.count((4,)) <= 2
    )  # residuals that differ from round to round; tanh w is none of them
    check_derivatives(loss, (0.3, XS))


def test_weak_types_of_carries_follow_jax():
    # recorded from jax 0.12: dtype and weak type of carry and outputs
    def types(f):
        return [(x.dtype.name, x.weak_type) for x in sagax.tree.leaves(f())]

    xs = snp.arange(3.0)
    assert types(lambda: lax.scan(lambda c, x: (c + x, c), 0.0, xs)) == [
        ("float32", False),
        ("float32", True),
    ]
    assert types(lambda: lax.scan(lambda c, x: (c + x, c), 0, xs)) == [
        ("float32", False),
        ("float32", False),
    ]
    assert types(lambda: lax.while_loop(lambda c: c < 10, lambda c: c * 2.5, 1)) == [
        ("float32", False)
    ]
    assert types(lambda: lax.cond(True, lambda: 1.0, lambda: 2.0)) == [("float32", True)]
    assert types(lambda: lax.cond(True, lambda: 1.0, lambda: snp.float32(2.0))) == [
        ("float32", False)
    ]


def test_edges():
    empty = np.zeros((0,), np.float32)
    carry, ys = lax.scan(lambda c, x: (c + x, c), 1.5, empty)
    assert float(carry) == 1.5 and ys.shape == (0,)
    assert lax.map(lambda x: x * 2, np.zeros((0, 3), np.float32)).shape == (0, 3)
    assert float(lax.fori_loop(5, 3, lambda i, c: c + 1, 2.0)) == 2.0
    assert (
        float(sagax.jit(sagax.grad(lambda a: lax.scan(lambda c, x: (c * x, c), a, empty)[0]))(2.0))
        == 1.0
    )
    assert lax.cond(True, lambda: None, lambda: None) is None


# effects ----------------------------------------------------------------------------------------------------


def test_effects_inside_loops_happen_each_round():
    seen = []

    def note(v):
        sagax.debug.callback(lambda x: seen.append(float(x)), v)

    def body(c, x):
        note(x)
        return c * x, None

    sagax.jit(lambda s: lax.scan(body, s, XS)[0])(2.0)
    sagax.effects_barrier()
    assert sorted(seen) == list(XS)
    del seen[:]
    value = sagax.grad(lambda s: lax.scan(body, s, XS)[0])(2.0)
    sagax.effects_barrier()
    np.testing.assert_allclose(value, np.prod(XS))
    assert sorted(seen) == list(XS)
    del seen[:]
    sagax.jit(lambda p: lax.cond(p, lambda: note(1.0), lambda: note(2.0)))(True)
    sagax.effects_barrier()
    assert seen == [1.0]


# errors -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (
            lambda: lax.scan(
                lambda c, x: ({"w": c["w"], "n": c["n"] * 0.5}, None),
                {"w": 1.0, "n": np.int32(2)},
                XS,
            ),
            ["init['n']", "int32[]", "float32[]", "astype"],
        ),
        (
            lambda: lax.scan(lambda c, x: (snp.stack([c, c]), None), np.float32(0), XS),
            ["init", "float32[]", "float32[2]", "shapes do not match"],
        ),
        (
            lambda: lax.while_loop(
                lambda c: True, lambda c: (c[0], c[1].astype("float16")), (0, XS)
            ),
            ["init_val[1]", "float32[4]", "float16[4]"],
        ),
        (
            lambda: lax.cond(True, lambda: {"a": [XS]}, lambda: {"a": [XS[:2]]}),
            ["output['a'][0]", "float32[4]", "float32[2]"],
        ),
        (
            lambda: lax.cond(True, lambda: (1.0, 2.0), lambda: [1.0, 2.0]),
            ["true_fun", "false_fun", "tuple", "list"],
        ),
        (
            lambda: lax.fori_loop(0, 3, lambda i, c: (c, c), 0.0),
            ["the carry output", "tuple"],
        ),
    ],
)
def test_errors_name_the_very_leaf(call, words):
    with pytest.raises(TypeError) as error:
        call()
    for word in words:
        assert word in str(error.value)


def test_a_loop_in_a_traced_function_while_jit_is_off():
    def count(n):
        return lax.fori_loop(0, n, lambda i, total: total + i, 0)

    with sagax.disable_jit():
        jaxpr = sagax.make_jaxpr(count)(5)
    assert [e.primitive.name for e in jaxpr.jaxpr.eqns if e.primitive.name == "while"]
    assert sagax.core.eval_jaxpr(jaxpr.jaxpr, jaxpr.consts, 5) == [10]


def test_a_carry_that_a_collective_makes_equal_is_not_mapped():
    def total(x):
        def step(carry, _):
            return lax.psum(x + carry, "rows"), None

        return lax.scan(step, 0.0, length=2)[0]

    # 1 + 2 + 3 = 6, then 6 + 3 * 6
    found = sagax.vmap(total, axis_name="rows", out_axes=None)(snp.array([1.0, 2.0, 3.0]))
    assert float(found) == 24.0


def test_the_carry_that_becomes_mapped_late():
    def chain(x):
        def step(_, carry):
            a, b, c, n = carry
            return b, c, x + a, n + 1

        return lax.fori_loop(0, x.astype(int), step, (0.0, 0.0, 0.0, 0))

    def numpy_chain(x):
        a = b = c = n = 0
        for _ in range(int(x)):
            a, b, c, n = b, c, x + a, n + 1
        return a, b, c, n

    xs = np.array([1.0, 4.0, 7.0], np.float32)
    found = sagax.vmap(chain)(xs)
    for got, want in zip(found, zip(*map(numpy_chain, xs), strict=True), strict=True):
        np.testing.assert_array_equal(got, want)


def test_the_index_of_a_static_fori_loop_is_a_python_number():
    """Of bounds of every dtype, as in jax 0.12."""
    bounds = [(0, 5), (0, snp.array(5)), (snp.array(0), snp.array(5)), (0, np.int8(5))]
    bounds += [(snp.int8(0), snp.int8(5)), (snp.uint32(0), snp.uint32(5))]
    for lower, upper in bounds:
        total = lax.fori_loop(lower, upper, lambda i, a: a * (i + 1), 1)
        assert (int(total), total.dtype, total.weak_type) == (120, snp.int32, True)
    start = np.uint32(2**32 - 3)
    seen = lax.fori_loop(start, np.uint32(2**32 - 1), lambda i, a: a + i, np.uint32(0))
    assert int(seen) == (2 * start.item() + 1) % 2**32
