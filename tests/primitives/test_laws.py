"""Every primitive obeys every law on every one of its samples."""

from __future__ import annotations

import numpy as np
import pytest

import laws
import sagax
from sagax._src.core.families import HIGHER_ORDER, WHOLE, Default, Family
from sagax._src.core.primitive import MissingRuleError, Primitive

CASES = list(laws.cases())
ids = [c[0] for c in CASES]
SMOKE = {"add-0", "sin-0", "dot_general-0", "gather-0", "reduce_sum-0", "select_n-0", "sort-0"}
MARKED = [
    pytest.param(*c, id=c[0], marks=[pytest.mark.smoke] if c[0] in SMOKE else []) for c in CASES
]


@pytest.mark.parametrize("law", laws.LAWS, ids=lambda law: law.__name__)
@pytest.mark.parametrize(("name", "primitive", "sample"), MARKED)
def test_law(law, name, primitive, sample):
    law(primitive, sample, name)


@pytest.mark.parametrize("law", laws.DERIVATIVE_LAWS, ids=lambda law: law.__name__)
@pytest.mark.parametrize(
    ("name", "primitive", "sample"),
    [c for c in CASES if c[2].derivatives],
    ids=[c[0] for c in CASES if c[2].derivatives],
)
def test_derivative_law(law, name, primitive, sample):
    law(primitive, sample, name)


@pytest.mark.parametrize(("name", "primitive", "sample"), CASES, ids=ids)
def test_symbolic_shapes(name, primitive, sample):
    if laws.symbolic_shapes_specialise(primitive, sample, name):
        return
    held = laws.fill(sample, name)
    assert sample.params, (
        f"{name} refuses symbolic shapes although it has no parameters; operands {held}"
    )


# Their operands are keys, or their values are what jax gives and no formula of NumPy: random/test_random.py
# and random/test_values.py check them against recorded values.
OF_KEYS = {
    "random_bits",
    "random_clone",
    "random_fold_in",
    "random_seed",
    "random_split",
    "random_unwrap",
    "random_wrap",
    "rng_bit_generator",
    "rng_uniform",
}


# They exist only while masks are lazy, and none is left in the program: higher_order/test_lazy_masks.py.
OF_VIEWS = {"masked_fill", "masked_view"}


@pytest.mark.smoke
@pytest.mark.parametrize("primitive", laws.all_primitives(laws.ALL), ids=repr)
def test_every_primitive_answers_every_slot(primitive):
    laws.answers_every_slot(primitive)


def test_who_does_not_answer_is_found():
    with pytest.raises(AssertionError, match="bare has no family"):
        laws.answers_every_slot(Primitive("bare"))
    with pytest.raises(AssertionError, match=r"bare does not answer (check|key)_rule"):
        laws.answers_every_slot(Primitive("bare", family=HIGHER_ORDER))
    with pytest.raises(AssertionError, match="bare for mask_rule has no reason"):
        laws.answers_every_slot(Primitive("bare", family=WHOLE, mask_rule=Default("")))
    with pytest.raises(TypeError, match="answers every slot; look at {'fusion'}"):
        Family("new", **{k: v for k, v in WHOLE.answers.items() if k != "fusion"})
    with pytest.raises(TypeError, match="no slot 'fusoin'"):
        Primitive("bare", family=WHOLE, fusoin=0)


def test_every_primitive_has_samples():
    without = {p.name for p in laws.all_primitives() if not p.samples and not p.is_higher_order}
    assert without == OF_KEYS | OF_VIEWS


def test_missing_rules_fail_by_name():
    bare = Primitive("bare")
    bare.abstract_rule = lambda x: x
    x = np.ones(2, np.float32)
    for transform, rule in [
        (lambda f: sagax.jvp(f, (x,), (x,)), "jvp"),
        (lambda f: sagax.vmap(f)(x), "batch"),
        (lambda f: sagax.jit(f)(x), "lower"),
        (lambda f: sagax.grad(lambda y: f(y).sum())(x), "jvp"),
    ]:
        with pytest.raises(MissingRuleError, match=f"'bare' has no {rule} rule"):
            transform(lambda y: bare.bind(y))
