"""Names that libraries import: helpers for arguments, partial evaluation, sources, options."""

from __future__ import annotations

import sys

import numpy as np
import pytest

import sagax
import sagax.numpy as snp
from sagax import api_util, core, lax, stages
from sagax.core import ShapedArray
from sagax.extend import linear_util as lu
from sagax.extend import source_info_util
from sagax.interpreters import ad, partial_eval

F32 = ShapedArray((), "float32")


def test_dtypes_of_values():
    # from jax 0.12.0
    cases = [(1, "int32"), (2.0, "float32"), (1j, "complex64"), (True, "bool")]
    cases += [(np.float64(1), "float32"), (snp.ones(2, "int8"), "int8"), ("f4", "float32")]
    cases += [(np.int64(3), "int32"), (snp.float32, "float32"), (float, "float32")]
    for x, expected in cases:
        assert lax.dtype(x) == np.dtype(expected), x
    assert lax.dtype(sagax.random.key(0)) == sagax.random.key(0).dtype
    for wrong, error in [([1], TypeError), (None, ValueError), ("x", TypeError)]:
        with pytest.raises(error):
            lax.dtype(wrong)


def test_tokens_and_kept_values():
    def f(x):
        token = lax.after_all(lax.create_token(x), lax.create_token())
        lax.dce_sink(x * 2)
        return x, token

    names = [eqn.primitive.name for eqn in sagax.make_jaxpr(f)(1.0).eqns]
    assert names == ["create_token", "create_token", "after_all", "mul", "dce_sink"]
    # XLA's module keeps the product only with prevent_mlir_dce
    kept = sagax.jit(lambda x: lax.dce_sink(x * 2, prevent_mlir_dce=True))
    assert "stablehlo.multiply" in kept.lower(1.0).as_text()
    assert float(sagax.grad(lambda x: f(x)[0])(1.0)) == 1.0
    with pytest.raises(TypeError, match="a token"):
        lax.after_all(1.0)


def test_arguments():
    f, given = api_util.argnums_partial(
        lu.wrap_init(lambda x, y, z: x + 10 * y + z), (2, 0), (1, 2, 3)
    )
    assert given == (1, 3) and f.call_wrapped(5, 7) == 32
    with pytest.raises(ValueError, match="cannot be hashed"):
        api_util.argnums_partial(lu.wrap_init(max), 0, (1, [2]))
    assert api_util.rebase_donate_argnums((3, 1), (0, 2)) == (0, 1)
    assert api_util.shaped_abstractify(sagax.ShapeDtypeStruct((2,), "int8")).shape == (2,)


def test_partial_evaluation():
    program = sagax.make_jaxpr(lambda x, y: (snp.sin(x) * y, x + 1))(1.0, 2.0)
    known, unknown, marks, types = partial_eval.partial_eval_jaxpr_nounits(
        program, [False, True], False
    )
    # as in jax 0.12.0: known outputs, then residuals; residuals, then unknown inputs
    assert marks == [True, False] and [a.shape for a in types] == [()]
    outs = core.eval_jaxpr(known.jaxpr, known.consts, 0.5)
    np.testing.assert_allclose(outs, [1.5, np.sin(0.5)], rtol=1e-6)
    (found,) = core.eval_jaxpr(unknown.jaxpr, (), outs[1], 3.0)
    np.testing.assert_allclose(found, 3 * np.sin(0.5), rtol=1e-6)

    jaxpr, pvals, consts = partial_eval.trace_to_jaxpr_nounits(
        lu.wrap_init(lambda x, y: [x + y, y * 2, 5.0]),
        [partial_eval.PartialVal.unknown(F32), partial_eval.PartialVal.known(3.0)],
        [False, True, False],
    )
    assert [p.is_known() for p in pvals] == [False, False, True]
    assert len(jaxpr.invars) == len(consts) + 1 and pvals[2].get_known() == 5.0
    sums = core.eval_jaxpr(jaxpr, (), *consts, 1.0)
    np.testing.assert_array_equal(sums, [4.0, 6.0])


def test_derivatives_of_jaxprs():
    program = sagax.make_jaxpr(lambda x, y: (snp.sin(x) * y, x + 1))(1.0, 2.0)
    derived, marks = ad.jvp_jaxpr(program, [True, False], False)
    assert marks == [True, True] and len(derived.invars) == 3 and len(derived.outvars) == 4
    linear = sagax.make_jaxpr(lambda x, y: [x * 3.0, y])(1.0, 2.0)
    inputs = [ad.UndefinedPrimal(linear.in_avals[0]), 2.0]
    cts = ad.backward_pass(linear, False, [], inputs, [1.0, ad.Zero(F32)])
    assert float(cts[0]) == 3.0 and cts[1] is None
    wrapped = ad.jvp(lu.wrap_init(lambda x: [x * x]))
    assert [float(x[0]) for x in wrapped.call_wrapped([3.0], [1.0])] == [9.0, 6.0]


def test_sources_of_operations():
    def f(x):
        with source_info_util.extend_name_stack("a"):
            assert source_info_util.current_name_stack().stack == ("a",)
            with source_info_util.transform_name_stack("jvp"):
                assert str(source_info_util.current_name_stack()) == "a/jvp()"
            with source_info_util.reset_name_stack():
                return snp.sin(x)

    (eqn,) = sagax.make_jaxpr(f)(1.0).eqns
    assert __file__ in source_info_util.summarize(eqn) and "f)" in source_info_util.summarize(eqn)

    def g(x):
        with source_info_util.user_context(eqn.traceback, name_stack="there"):
            return snp.cos(x)

    (copied,) = sagax.make_jaxpr(g)(1.0).eqns
    assert source_info_util.summarize(copied) == source_info_util.summarize(eqn)
    assert copied.scope == "there"


def test_options(monkeypatch):
    assert sagax.config.x64_enabled is False
    with sagax.enable_x64(True):
        assert sagax.config.x64_enabled is True
    args = ["program", "--jax_log_compiles", "other", "--nojax_debug_nans", "--x", "--"]
    monkeypatch.setattr(sys, "argv", [*args, "--jax_enable_x64"])
    try:
        sagax.config.parse_flags_with_absl()
        assert sagax.config.log_compiles is True and sagax.config.x64_enabled is False
    finally:
        sagax.config.update("log_compiles", False)
    monkeypatch.setattr(sys, "argv", ["program", "--jax_debug_nans=perhaps"])
    with pytest.raises(ValueError):
        sagax.config.parse_flags_with_absl()
    assert stages.CompilerOptions == dict[str, __import__("typing").Any]


def test_contexts_of_evaluation():
    def f(x):
        with core.eval_context():
            n = float(snp.sum(snp.ones(3)))
        return x * n

    assert float(sagax.jit(f)(2.0)) == 6.0
    assert core.pytype_aval_mappings[np.ndarray](np.ones(2, np.int8)).dtype == np.int8
