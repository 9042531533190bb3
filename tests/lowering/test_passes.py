"""The passes before lowering: under `enable_checks` what each makes is verified."""

from __future__ import annotations

import numpy as np
import pytest

import sagax
import sagax.numpy as snp
from sagax._src.core.jaxpr import Var
from sagax._src.lowering import passes, reroll


def unrolled(x):
    for _ in range(60):
        x = snp.sin(x) * 2
    return x


def unbound(jaxpr):
    """Returns a variable that no equation binds."""
    return jaxpr.replace(outvars=[Var(v.aval) for v in jaxpr.outvars])


def mistyped(jaxpr):
    """Declares another type than the rule of the last operation gives."""
    *eqns, last = jaxpr.eqns
    (v,) = last.outvars
    wrong = Var(v.aval.update(shape=(7,)))
    return jaxpr.replace(eqns=[*eqns, last.replace(outvars=[wrong])], outvars=[wrong])


@pytest.mark.parametrize(
    "broken, words",
    [(unbound, "is read before it is bound"), (mistyped, "where the rule gives float32")],
)
def test_a_pass_that_breaks_a_jaxpr_is_named(broken, words, monkeypatch):
    jaxpr = sagax.make_jaxpr(unrolled)(np.ones(3, np.float32)).jaxpr
    monkeypatch.setattr(reroll, "rerolled", broken)
    with sagax.enable_checks(True), pytest.raises(TypeError, match=f"after re-rolling: .*{words}"):
        passes.prepared(jaxpr, "cpu")


@pytest.mark.parametrize("platform", ["cpu", "cuda"])
def test_what_is_lowered_is_verified_before_the_passes(platform):
    jaxpr = unbound(sagax.make_jaxpr(snp.sin)(np.ones(3, np.float32)).jaxpr)
    with sagax.enable_checks(True), pytest.raises(TypeError, match="after tracing and transf"):
        passes.prepared(jaxpr, platform)


def test_sound_jaxprs_pass():
    x = np.linspace(0, 1, 5, dtype=np.float32)
    expected = sagax.jit(unrolled)(x)
    with sagax.enable_checks(True):
        np.testing.assert_array_equal(sagax.jit(unrolled)(x), expected)
