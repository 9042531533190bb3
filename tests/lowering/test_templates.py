"""Text of operations from templates: it is what the rules would write each time."""

from __future__ import annotations

import collections

import numpy as np
import pytest

import sagax
import sagax.numpy as snp
from sagax import lax
from sagax._src.lowering.builder import Builder
from sagax._src.lowering.module import ModuleBuilder

X = np.linspace(-1, 1, 12, dtype=np.float32).reshape(3, 4)


def layers(x):
    for _ in range(5):
        centred = x - x.mean(-1, keepdims=True)
        a, b = snp.split(centred / snp.sqrt((centred**2).mean() + 1e-5), 2, axis=-1)
        x = x + snp.concatenate([b, a @ snp.ones((2, 2))], axis=-1)
    return x


def squares_and_products(x):
    y = x + 1
    for _ in range(4):
        x, y = x * x, x * y
        x, y = snp.where(x > y, x, y), snp.where(x > x, y, x)
    return x, y


def zeros_of_both_signs(x):
    found = []
    for _ in range(3):
        for zero in (np.float32(0.0), np.float32(-0.0)):
            found += [lax.div(x, zero), lax.pad(x, zero, ((1, 0, 0), (0, 0, 0)))]
            x = x * 2
    return found


def in_regions(x):
    def body(carry, row):
        for _ in range(3):
            carry = snp.maximum(carry * 3.0 + row, 7.0)
        return carry, snp.cumsum(carry)

    for _ in range(3):
        x = snp.maximum(x * 3.0 + x, 7.0)
        x = lax.scan(body, x[0], x)[1]
        x = lax.cond(x.sum() > 7.0, lambda x: snp.maximum(x * 3.0 + x, 7.0) * 5.0, lambda x: x, x)
    return x


def functions(x):
    def scaled(x, by):
        for _ in range(3):
            x = (x + 0.25) * by / (1 + snp.abs(x))
        return x

    inner = sagax.jit(scaled)
    for _ in range(3):
        x = inner(x, 2.0) + sagax.jit(lambda x: snp.tanh((x + 0.25) * 3.0))(x)
    return scaled(x, 2.0)


def types(x):
    whole = snp.arange(4)
    for _ in range(4):
        x = x + 1
        whole = (whole + 1) << 1
        x = x.astype(np.float16).astype(np.float32) * whole.astype(np.float32)
        x = snp.sort(x, axis=1)[:, ::-1]
    return x, whole.sum() + 1, sagax.random.uniform(sagax.random.key(0), (4,)) + x[0]


PROGRAMS = (layers, squares_and_products, zeros_of_both_signs, in_regions, functions, types)


def lowered_text(f) -> str:
    sagax.clear_caches()
    return sagax.jit(lambda x: f(x)).lower(X).as_text(debug_info=True)


@pytest.fixture
def applied(monkeypatch):
    """How often the rule of each primitive is called."""
    counts: collections.Counter[str] = collections.Counter()
    apply = Builder.apply

    def counted(self, primitive, operands, params):
        counts[primitive.name] += 1
        return apply(self, primitive, operands, params)

    monkeypatch.setattr(Builder, "apply", counted)
    return counts


@pytest.mark.parametrize("f", PROGRAMS, ids=lambda f: f.__name__)
def test_the_text_is_what_the_rules_write_each_time(f, applied, monkeypatch):
    shorter = lowered_text(f)
    with_templates = applied.total()
    applied.clear()

    def without_templates(self, eqn, operands):
        results = self.apply(eqn.primitive, operands, eqn.params)
        return results if eqn.primitive.multiple_results else [results]

    monkeypatch.setattr(Builder, "apply_as_before", without_templates)
    monkeypatch.setattr(ModuleBuilder, "location_of", ModuleBuilder._location_of)
    assert lowered_text(f) == shorter
    assert with_templates < applied.total()


def test_rules_are_called_for_the_first_rounds_only(applied):
    def chain(x):
        for _ in range(40):
            x = snp.sin(x) * x
        return x

    lowered_text(chain)
    assert applied["sin"] == applied["mul"] == 2


def test_values():
    x, y = sagax.jit(squares_and_products)(X)
    a, b = X, X + 1
    for _ in range(4):
        a, b = a * a, a * b
        a, b = np.where(a > b, a, b), a
    np.testing.assert_allclose(x, a, rtol=1e-6)
    np.testing.assert_allclose(y, b, rtol=1e-6)
    for i, found in enumerate(sagax.jit(zeros_of_both_signs)(X)[::2]):
        with np.errstate(divide="ignore"):
            expected = X / np.float32(-0.0 if i % 2 else 0.0)
        np.testing.assert_array_equal(found, expected)
