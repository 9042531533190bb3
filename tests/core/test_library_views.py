"""Attributes of traces, primitives and equations by which libraries recognize and repeat them."""

from __future__ import annotations

import numpy as np

import sagax
import sagax.numpy as snp
from sagax.extend import core


def test_tracers_are_recognized_by_the_identity_of_their_trace():
    found = []

    def f(x):
        found.append(core.find_top_trace([x]).main is x._trace.main)
        sagax.jvp(lambda y: found.append(y._trace.main is x._trace.main) or y, (x,), (x,))
        return x

    sagax.jvp(f, (1.0,), (1.0,))
    assert found == [True, False]


def test_equations_are_repeated_by_their_bind_parameters():
    program = sagax.make_jaxpr(lambda x: sagax.jit(snp.sin)(x) * 2)(1.0)
    values = dict(zip(program.jaxpr.invars, [0.5]))
    for eqn in program.eqns:
        primitive = eqn.primitive
        assert not primitive.call_primitive and not primitive.map_primitive
        given = [v.val if isinstance(v, core.Literal) else values[v] for v in eqn.invars]
        out = primitive.bind(*given, **primitive.get_bind_params(eqn.params))
        values.update(zip(eqn.outvars, out if primitive.multiple_results else [out]))
    np.testing.assert_allclose(values[program.jaxpr.outvars[0]], 2 * np.sin(0.5), rtol=1e-6)


def test_equations_tell_their_source():
    def f(x):
        with sagax.named_scope("layer"):
            return snp.sin(x)

    info = sagax.make_jaxpr(f)(1.0).eqns[0].source_info
    assert str(info.name_stack) == "layer" and info.traceback is not None


def test_tangent_types_by_their_older_name():
    assert sagax.core.ShapedArray((2,), np.dtype("float32")).at_least_vspace().dtype == np.float32
    found = sagax.core.ShapedArray((2,), np.dtype("int32")).at_least_vspace()
    assert found.dtype == sagax.dtypes.float0 and found.shape == (2,)


def test_the_first_argument_may_be_static():
    for position in (0, (0,)):
        program = sagax.make_jaxpr(lambda n, x: x * n, static_argnums=position)(3, 2.0)
        assert len(program.in_avals) == 1


def test_functions_of_jaxprs_take_first_inputs():
    program = sagax.make_jaxpr(lambda x, y: x - y)(1, 2)
    assert int(sagax.extend.core.jaxpr_as_fun(program, 5)(3)[0]) == 2
