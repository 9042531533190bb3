"""Where fences are put, and that values stay what they are."""

from __future__ import annotations

import numpy as np
import pytest

import sagax
import sagax.numpy as snp
from sagax import nn
from sagax._src import xla
from sagax._src.core.verify import check_jaxpr
from sagax._src.lowering.fusion_fences import fenced
from sagax._src.lowering.passes import prepared

RNG = np.random.default_rng(0)
BIG = RNG.standard_normal((32, 64)).astype(np.float32)
W = (RNG.standard_normal((64, 64)) / 8).astype(np.float32)


def trace(f, *args):
    return sagax.make_jaxpr(f)(*args).jaxpr


def count(jaxpr) -> int:
    """How many fences a program has, with those inside."""
    found = 0
    for eqn in jaxpr.eqns:
        found += eqn.primitive.name == "optimization_barrier"
        for value in eqn.params.values():
            for inner in value if isinstance(value, tuple) else (value,):
                inner = getattr(inner, "jaxpr", inner)
                found += count(inner) if hasattr(inner, "eqns") else 0
    return found


def layer(x):
    """A residual layer: its input is read by two reductions, an operation element by element and the sum."""
    y = x - x.mean(-1, keepdims=True)
    y = y / snp.sqrt((y**2).mean(-1, keepdims=True) + 1e-5)
    return x + snp.tanh(y @ W)


def stack(x, layers=6, layer=layer):
    for _ in range(layers):
        x = layer(x)
    return x


def rectified(x):
    return snp.maximum(layer(x), 0.0)


def test_a_stream_behind_an_operation_on_one_array_gets_a_fence_for_some_layers():
    """Not for each: adding two arrays again costs no more than writing and reading their sum."""
    few, many = (count(fenced(trace(lambda x, n=n: stack(x, n, rectified), BIG))) for n in (4, 12))
    assert 2 <= few <= 8
    assert 3 * few - 3 <= many <= 3 * few + 3


def test_a_stream_of_sums_gets_none():
    """XLA writes a sum that is read again over a product of matrices."""
    jaxpr = trace(stack, BIG)
    assert fenced(jaxpr) is jaxpr


def test_updates_that_are_results_too_get_none():
    """What is a result is written, and XLA reads that."""

    def update(p, m, v, g):
        m, v = 0.9 * m + 0.1 * g, 0.99 * v + 0.01 * g * g
        return p - 0.1 * m / (snp.sqrt(v) + 1e-8), m, v

    jaxpr = trace(update, BIG, BIG, BIG, BIG)
    assert fenced(jaxpr) is jaxpr


def test_what_is_read_at_several_offsets_is_computed_at_each():
    """Four places in one loop: each round would compute the one before five times."""

    def rounds(x, count):
        for _ in range(count):
            inner = x[:-2] + x[2:] + 0.5 * x[1:-1]
            x = snp.pad(inner, ((1, 1), (0, 0)))
        return x

    assert count(fenced(trace(lambda x: rounds(x, 1), BIG))) == 0
    assert count(fenced(trace(lambda x: rounds(x, 6), BIG))) >= 3


def test_a_value_that_is_padded_is_written_with_its_margins():
    """Before the pad, XLA would write the value, and the padded value from it; not if that is much larger."""

    def rounds(x, margin):
        for _ in range(6):
            inner = x[:32] + x[2:34] + 0.5 * x[1:33]
            x = snp.pad(inner, ((margin, margin), (0, 0)))
        return x

    def fenced_values(margin):
        program = fenced(trace(lambda x: rounds(x, margin), snp.pad(BIG, ((1, 1), (0, 0)))))
        made = {v: eqn.primitive.name for eqn in program.eqns for v in eqn.outvars}
        return {
            made[e.invars[0]] for e in program.eqns if e.primitive.name == "optimization_barrier"
        }

    assert fenced_values(1) == {"pad"}
    assert fenced_values(32) == {"add"}


def test_margins_of_symbolic_size_are_left_outside():
    (n,) = sagax.export.symbolic_shape("n")

    def rounds(x, y):
        for _ in range(3):
            inner = x[:32] + x[1:33] + 0.5 * x[2:34]
            x = snp.pad(inner, ((y.shape[0], 4), (0, 0)))
            around = x[:32] + x[1:33] + x[2:34] + x[3:35]
            x = snp.concatenate([around, around])[:40]
        return x

    like = sagax.ShapeDtypeStruct((40, 64), "float32"), sagax.ShapeDtypeStruct((n,), "float32")
    program = fenced(sagax.make_jaxpr(rounds)(*like).jaxpr)
    pads = {v for e in program.eqns if e.primitive.name == "pad" for v in e.outvars}
    assert len(pads) == 3
    assert not [
        e
        for e in program.eqns
        if e.primitive.name == "optimization_barrier" and e.invars[0] in pads
    ]


def test_the_gradient_of_a_residual_stream_gets_fences():
    gradient = sagax.grad(lambda x: (stack(x) ** 2).sum())
    assert count(fenced(trace(gradient, BIG))) >= 3


def test_a_chain_that_is_read_in_one_place_gets_none():
    def f(x):
        for _ in range(20):
            x = x + 0.1 * x * (1.0 - x)
        return x

    jaxpr = trace(f, BIG)
    assert fenced(jaxpr) is jaxpr


def test_what_cuts_off_an_activation_is_computed_again():
    """A clamp takes less than writing what it gives, though several operations read that."""

    def loss(x, b, w):
        return (nn.gelu(x + b) @ w).sum()

    x = RNG.standard_normal((512, 1024)).astype(np.float32)
    b, w = x[0], x.T[:, :256]
    assert count(fenced(trace(sagax.grad(loss, (0, 1, 2)), x, b, w))) == 0


def test_a_formula_that_reads_values_twice_gets_none():
    """Two results, made from two arrays: computing again is cheaper than memory."""

    def f(x, y):
        r = x * x + y * y
        s = x + y
        t = s * r + 0.3 * s - r
        return (t + r) / (t * t + 1.0) + s, t * r - s

    jaxpr = trace(f, BIG, BIG)
    assert fenced(jaxpr) is jaxpr


@pytest.mark.parametrize("x", [BIG[:4, :16], np.ones((32, 64), np.int32)], ids=["small", "integer"])
def test_small_arrays_and_integers_get_none(x):
    def f(x):
        for _ in range(8):
            x = x + x.sum(0) + x.sum(1, keepdims=True) + x.max(0)
        return x

    assert count(fenced(trace(f, x))) == 0
    assert count(fenced(trace(f, BIG))) > 0


def test_long_chains_of_moves_are_looked_at_once():
    def flips(x):
        for _ in range(3000):
            x = snp.flip(x, 0)
        return x, x + 1.0

    assert count(fenced(trace(flips, BIG))) == 0

    def rolls(x):
        for _ in range(300):
            x = 0.5 * x + snp.roll(x, 1, 0)
        return x

    fences = count(fenced(trace(rolls, BIG)))
    assert 100 <= fences <= 300  # two or three reads a round, which double with each


def test_fences_see_through_calls_and_into_loops():
    plain = count(fenced(trace(lambda x: stack(x, 6, rectified), BIG)))
    inner = sagax.jit(rectified)

    def with_calls(x):
        for _ in range(6):
            x = inner(x)
        return x

    assert count(fenced(trace(with_calls, BIG))) >= plain

    def loop(x):
        return sagax.lax.scan(lambda x, _: (stack(x, 4, rectified), None), x, length=3)[0]

    jaxpr = fenced(trace(loop, BIG))
    assert count(jaxpr) >= 1
    assert jaxpr.eqns[-1].primitive.name == "scan"


@pytest.mark.parametrize(
    "f", [lambda x: stack(x, 6, rectified), sagax.grad(lambda x: (stack(x) ** 2).sum())]
)
def test_values_stay(f):
    expected = sagax.jit(f)(BIG)
    with sagax.config.context(fusion_fences="off"):
        assert "optimization_barrier" not in sagax.jit(f).lower(BIG).as_text()
        np.testing.assert_allclose(sagax.jit(f)(BIG), expected, 1e-4, 1e-4)
    jaxpr = fenced(trace(f, BIG))
    check_jaxpr(jaxpr)
    # values only pass through a fence: without rounding between, the program is the same
    with sagax.config.context(exact=True):
        assert "optimization_barrier" in sagax.jit(f).lower(BIG).as_text()


def test_fences_are_for_the_cpu():
    jaxpr = trace(lambda x: stack(x, 6, rectified), BIG)
    assert count(prepared(jaxpr, "cuda")) == 0
    assert count(prepared(jaxpr, "cpu")) == (
        count(fenced(jaxpr)) if xla.barriers_last_until_fusion else 0
    )
    with sagax.config.context(fusion_fences="off"):
        assert count(prepared(jaxpr, "cpu")) == 0


@pytest.mark.skipif(
    not xla.barriers_last_until_fusion, reason="XLA before 0.11 drops barriers before it fuses"
)
def test_a_deep_stack_computes_its_stream_once():
    """Unfenced, the work of a deep stack of batch-normalised convolutions grows with the square of its depth."""
    kernel = (RNG.standard_normal((3, 3, 8, 8)) / 10).astype(np.float32)
    image = RNG.standard_normal((2, 8, 8, 8)).astype(np.float32)

    def deep(x, layers):
        layout = ("NHWC", "HWIO", "NHWC")
        for _ in range(layers):
            y = sagax.lax.conv_general_dilated(x, kernel, (1, 1), "SAME", dimension_numbers=layout)
            y = (y - y.mean((0, 1, 2))) / snp.sqrt(y.var((0, 1, 2)) + 1e-5)
            x = snp.maximum(x + y, 0.0)
        return x

    def instructions(layers):
        compiled = sagax.jit(deep, static_argnums=1, reroll="off").lower(image, layers).compile()
        return len(compiled.as_text().splitlines())

    with sagax.config.context(fusion_fences="off"):
        before = instructions(16) / instructions(8)
    after = instructions(16) / instructions(8)
    assert before > 2.5
    assert after < 2.2
