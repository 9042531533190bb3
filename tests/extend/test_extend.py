"""Primitives of libraries, defined through sagax.extend and sagax.interpreters as they are for jax."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import sagax
import sagax.numpy as snp
from sagax import errors
from sagax.core import ShapedArray
from sagax.extend import core, linear_util, random
from sagax.interpreters import ad, batching, mlir, partial_eval, pxla, xla
from sagax.sharding import Mesh


def scaled_sine():
    """A primitive with every rule: sin(a x) of an array, with a parameter a."""
    p = core.Primitive("scaled_sine")
    p.def_impl(lambda x, *, a: snp.asarray(np.sin(a * np.asarray(x))))
    p.def_abstract_eval(lambda x, *, a: ShapedArray(x.shape, x.dtype))
    mlir.register_lowering(
        p, mlir.lower_fun(lambda x, *, a: snp.sin(a * x), multiple_results=False)
    )
    ad.defjvp(p, lambda t, x, *, a: a * snp.cos(a * x) * t)
    batching.defvectorized(p)
    return p


def test_a_primitive_of_ones_own():
    p = scaled_sine()
    x = np.linspace(0, 1, 5, dtype=np.float32)

    def f(x):
        return p.bind(x, a=3.0)

    np.testing.assert_allclose(f(x), np.sin(3 * x), rtol=1e-6)
    np.testing.assert_allclose(sagax.jit(f)(x), np.sin(3 * x), rtol=1e-6)
    np.testing.assert_allclose(sagax.vmap(f)(x), np.sin(3 * x), rtol=1e-6)
    np.testing.assert_allclose(sagax.vmap(sagax.grad(f))(x), 3 * np.cos(3 * x), rtol=1e-5)
    np.testing.assert_allclose(
        sagax.jit(sagax.grad(sagax.grad(f)))(0.3), -9 * np.sin(0.9), rtol=1e-5
    )
    (eqn,) = sagax.make_jaxpr(f)(x).eqns
    assert eqn.primitive is p and eqn.params == {"a": 3.0}
    # what runs outside of programs is `def_impl`; xla.apply_primitive takes what is compiled
    p.def_impl(lambda x, *, a: snp.zeros(()))
    assert float(p.bind(1.0, a=1.0)) == 0
    np.testing.assert_allclose(xla.apply_primitive(p, 1.0, a=1.0), np.sin(1.0), rtol=1e-6)


def test_several_results_and_a_rule_for_zeros():
    p = core.Primitive("sum_and_difference")
    p.multiple_results = True
    p.def_abstract_eval(lambda x, y: [x, x])
    mlir.register_lowering(p, mlir.lower_fun(lambda x, y: [x + y, x - y]))
    seen = []

    def jvp(primals, tangents):
        seen.append([type(t) is ad.Zero for t in tangents])
        return p.bind(*primals), p.bind(*map(ad.instantiate_zeros, tangents))

    ad.primitive_jvps[p] = jvp

    def transpose(cts, x, y):
        a, b = map(ad.instantiate_zeros, cts)
        wanted = map(ad.is_undefined_primal, (x, y))
        return [ct if w else None for w, ct in zip(wanted, (a + b, a - b), strict=True)]

    ad.primitive_transposes[p] = transpose
    batching.primitive_batchers[p] = lambda args, dims: (
        p.bind(*[batching.bdim_at_front(x, d, 3) for x, d in zip(args, dims)]),
        [0, 0],
    )
    out = sagax.jit(p.bind)(5.0, 2.0)
    assert [float(o) for o in out] == [7.0, 3.0]
    assert float(sagax.grad(lambda x: p.bind(x, 2.0)[0] * p.bind(x, 2.0)[1])(5.0)) == 10.0
    assert [False, True] in seen
    transposed = sagax.linear_transpose(lambda x, y: p.bind(x, y), 0.0, 0.0)([1.0, 10.0])
    assert [float(t) for t in transposed] == [11.0, -9.0]
    batch = sagax.vmap(p.bind, in_axes=(0, None))(np.arange(3.0), 1.0)
    np.testing.assert_array_equal(batch[1], [-1, 0, 1])
    assert p in ad.primitive_jvps and ad.primitive_jvps[p] is jvp
    assert ad.get_primitive_transpose(p) is transpose


def test_bilinear_and_linear():
    product = core.Primitive("my_product")
    product.def_abstract_eval(lambda x, y: x)
    mlir.register_lowering(product, mlir.lower_fun(lambda x, y: x * y, multiple_results=False))
    ad.defbilinear(
        product, lambda ct, x, y: product.bind(ct, y), lambda ct, x, y: product.bind(x, ct)
    )
    batching.defbroadcasting(product)
    gradient = sagax.grad(lambda x, y: product.bind(x, product.bind(x, y)), argnums=(0, 1))
    assert [float(g) for g in gradient(3.0, 2.0)] == [12.0, 9.0]
    np.testing.assert_array_equal(
        sagax.vmap(product.bind, in_axes=(0, None))(np.arange(3.0), 2.0), [0, 2, 4]
    )
    total = core.Primitive("my_sum")
    total.def_abstract_eval(
        lambda x, *, axes: ShapedArray([n for i, n in enumerate(x.shape) if i not in axes], x.dtype)
    )
    mlir.register_lowering(
        total, mlir.lower_fun(lambda x, *, axes: snp.sum(x, axes), multiple_results=False)
    )
    ad.deflinear2(
        total, lambda ct, x, *, axes: [snp.broadcast_to(snp.expand_dims(ct, axes), x.aval.shape)]
    )
    batching.defreducer(total)
    x = np.arange(24.0, dtype=np.float32).reshape(2, 3, 4)
    for dim in range(3):
        moved = sagax.vmap(lambda v: total.bind(v, axes=(1,)), in_axes=dim)(x)
        np.testing.assert_array_equal(moved, np.moveaxis(x, dim, 0).sum(axis=2))
    np.testing.assert_array_equal(
        sagax.grad(lambda x: total.bind(x, axes=(0, 1, 2)) ** 2)(x), np.full(x.shape, 2 * x.sum())
    )


def test_rules_of_a_platform():
    p = core.Primitive("platform_name")
    p.def_abstract_eval(lambda x: x)
    mlir.register_lowering(p, mlir.lower_fun(lambda x: x + 1, multiple_results=False))
    mlir.register_lowering(
        p, mlir.lower_fun(lambda x: x + 2, multiple_results=False), platform="cpu"
    )
    assert float(sagax.jit(p.bind, backend="cpu")(0.0)) == 2.0
    assert (
        sagax.jit(p.bind).trace(0.0).lower(lowering_platforms=("cuda",)).as_text().count("2.0") == 0
    )


def test_missing_rules_name_the_primitive():
    p = core.Primitive("bare")
    with pytest.raises(NotImplementedError, match="'bare' has no abstract rule"):
        sagax.jit(p.bind)(1.0)
    p.def_abstract_eval(lambda x: x)
    with pytest.raises(NotImplementedError, match="'bare' has no lower rule"):
        sagax.jit(p.bind)(1.0)
    with pytest.raises(NotImplementedError, match="'bare' has no"):
        sagax.grad(p.bind)(1.0)
    with pytest.raises(NotImplementedError, match="'bare' has no batch rule"):
        sagax.vmap(p.bind)(np.ones(2))
    with pytest.raises(KeyError):
        ad.primitive_jvps[p]
    assert p not in batching.primitive_batchers


def test_rules_that_are_there_can_be_called():
    sin_p = core.primitives.sin_p
    out, tangent = ad.primitive_jvps[sin_p]((0.5,), (2.0,), **_params_of(snp.sin))
    np.testing.assert_allclose([out, tangent], [np.sin(0.5), 2 * np.cos(0.5)], rtol=1e-6)
    out, dim = batching.primitive_batchers[sin_p](
        (np.ones((2, 3), "f"),), (1,), **_params_of(snp.sin)
    )
    assert out.shape == (2, 3) and dim == 1


def _params_of(f):
    return sagax.make_jaxpr(f)(1.0).eqns[0].params


def test_jaxprs():
    closed = sagax.make_jaxpr(lambda x, y: (x * y, sagax.jit(snp.sin)(x)))(1.0, 2.0)
    assert isinstance(closed, core.ClosedJaxpr) and isinstance(closed.jaxpr, core.Jaxpr)
    assert all(isinstance(e, core.JaxprEqn) for e in closed.eqns)
    assert all(isinstance(v, core.Var) for v in closed.jaxpr.invars)
    product, call = closed.eqns
    assert product.primitive is core.primitives.mul_p
    assert call.primitive is core.primitives.jit_p
    assert [j.eqns[0].primitive for j in core.subjaxprs(closed.jaxpr)] == [core.primitives.sin_p]
    assert [len(j.eqns) for j in core.jaxprs_in_params(call.params)] == [1]
    np.testing.assert_allclose(core.jaxpr_as_fun(closed)(3.0, 4.0), [12.0, np.sin(3.0)], rtol=1e-6)
    # an interpreter, as libraries write them: all products become sums
    eqn = core.new_jaxpr_eqn(product.invars, product.outvars, core.primitives.add_p, product.params)
    changed = closed.replace(jaxpr=closed.jaxpr.replace(eqns=[eqn, call]))
    assert float(core.jaxpr_as_fun(changed)(3.0, 4.0)[0]) == 7.0
    literal = sagax.make_jaxpr(lambda x: x * 2.0)(1.0).eqns[0].invars[1]
    assert isinstance(literal, core.Literal) and literal.val == 2.0


def test_jaxprs_with_and_without_constants_are_of_one_class():
    """As in jax 0.12, whose results these are; the ValueError at the end is an AssertionError there."""
    values = np.arange(3.0, dtype=np.float32)
    closed = sagax.make_jaxpr(lambda x: x * values)(2.0)
    assert core.Jaxpr is core.ClosedJaxpr is sagax.core.Jaxpr
    assert isinstance(closed, core.Jaxpr) and isinstance(closed.jaxpr, core.ClosedJaxpr)
    assert not isinstance(values, core.Jaxpr)
    assert [v.aval.shape for v in closed.all_invars] == [(3,), ()] and closed.num_consts == 1
    make: Any = core.Jaxpr  # for type checkers it is one of the two classes
    opened = make(closed.constvars, closed.invars, closed.outvars, closed.eqns)
    assert opened.jaxpr is opened and (opened.consts, opened.num_consts) == ([], 0)
    for doubled in (
        core.ClosedJaxpr(closed.jaxpr, [2 * values]),
        make(closed, consts=[2 * values]),
        opened.with_consts([2 * values]),
        closed.replace(consts=[2 * values]),
        make(closed.constvars, closed.invars, closed.outvars, closed.eqns, consts=[2 * values]),
    ):
        (got,) = sagax.core.eval_jaxpr(doubled, doubled.consts, 2.0)
        np.testing.assert_array_equal(got, [0, 4, 8])
    assert closed.replace(eqns=[]).eqns == [] and closed.replace(eqns=[]).consts == closed.consts
    with pytest.raises(ValueError, match="1 constants got 2 values"):
        opened.with_consts([values, values])


def test_dead_code_goes():
    closed = sagax.make_jaxpr(lambda x, y: (snp.sin(x), snp.cos(y)))(1.0, 2.0)
    jaxpr, used = partial_eval.dce_jaxpr(closed.jaxpr, [False, True])
    assert [e.primitive.name for e in jaxpr.eqns] == ["cos"] and used == [False, True]
    jaxpr, used = partial_eval.dce_jaxpr(closed.jaxpr, [False, True], instantiate=True)
    assert len(jaxpr.invars) == 2 and used == [True, True]
    wrapped = linear_util.wrap_init(lambda x: [x * 2])
    jaxpr, outs, consts = partial_eval.trace_to_jaxpr_dynamic(
        wrapped, [ShapedArray((2,), "float32")]
    )
    assert [o.shape for o in outs] == [(2,)] and not consts and len(jaxpr.eqns) == 1


def test_what_is_at_work():
    assert not core.unsafe_am_i_under_a_jit_DO_NOT_USE()
    outside = core.get_opaque_trace_state()
    seen = []

    @sagax.jit
    def f(x):
        def g(v):
            seen.append(
                (
                    core.unsafe_am_i_under_a_jit_DO_NOT_USE(),
                    core.unsafe_am_i_under_a_vmap_DO_NOT_USE(),
                    core.unsafe_get_axis_names_DO_NOT_USE(),
                    core.nonempty_axis_env_DO_NOT_USE(),
                    core.get_opaque_trace_state() == outside,
                )
            )
            return v

        return sagax.vmap(g, axis_name="i")(x)

    f(np.ones(3))
    assert seen == [(True, True, ["i"], True, False)]
    assert core.get_opaque_trace_state() == outside


def test_concrete_or_error():
    assert core.concrete_or_error(int, snp.asarray(3)) == 3
    assert core.concrete_or_error(None, 2.5) == 2.5
    with pytest.raises(errors.ConcretizationTypeError, match="the number of steps"):
        sagax.jit(lambda n: core.concrete_or_error(int, n, "the number of steps"))(3)


def test_avals_of_examples():
    aval = ShapedArray((2, 3), "float32")
    assert core.mapped_aval(3, 1, aval) is ShapedArray((2,), "float32")
    assert core.mapped_aval(3, None, aval) is aval
    for axis in (0, 1, 2, -1):
        batched = core.unmapped_aval(5, axis, aval)
        assert core.mapped_aval(5, axis, batched) is aval
        assert batched.shape[axis] == 5


def test_linear_util():
    calls = []

    @linear_util.transformation
    def logged(name, *args, **kwargs):
        calls.append(("in", name))
        result = yield args, kwargs
        calls.append(("out", name))
        yield result

    fun = logged(logged(linear_util.wrap_init(pow), "inner"), "outer")
    assert fun.call_wrapped(2, 5) == 32
    assert calls == [("in", "outer"), ("in", "inner"), ("out", "inner"), ("out", "outer")]
    assert fun == logged(logged(linear_util.wrap_init(pow), "inner"), "outer")
    assert fun != logged(linear_util.wrap_init(pow), "inner")
    assert fun.__name__ == "pow"

    @linear_util.transformation_with_aux
    def halves(*args):
        result = yield args, {}
        yield result // 2, result % 2

    fun, rest = halves(linear_util.wrap_init(abs))
    with pytest.raises(linear_util.StoreException, match="Store empty"):
        rest()
    assert (fun.call_wrapped(-7), rest()) == (3, 1)
    with pytest.raises(linear_util.StoreException, match="Store occupied"):
        fun.call_wrapped(-7)


def test_a_generator_of_ones_own():
    """Threefry again, defined of its parts, gives the same numbers."""
    theirs = random.threefry_prng_impl

    mine = random.define_prng_impl(
        key_shape=(2,),
        name="again",
        tag="ag",
        seed=lambda seed: theirs.seed(seed),
        split=lambda data, shape: theirs.split(data, shape),
        random_bits=lambda data, width, shape: theirs.random_bits(data, width, shape),
        fold_in=lambda data, n: theirs.fold_in(data, snp.asarray(n, np.uint32)),
    )
    ours, again = sagax.random.key(5), sagax.random.key(5, impl=mine)
    for f in (
        lambda k: sagax.random.normal(k, (3,)),
        lambda k: sagax.vmap(lambda k: sagax.random.uniform(k, (2,)))(sagax.random.split(k, 3)),
        lambda k: sagax.random.bits(sagax.random.fold_in(k, 7)),
        lambda k: sagax.vmap(lambda i: sagax.random.bits(sagax.random.fold_in(k, i)))(np.arange(3)),
    ):
        np.testing.assert_array_equal(f(again), f(ours))


def test_threefry():
    # The vectors of Salmon et al., "Parallel random numbers: as easy as 1, 2, 3", 2011.
    for key, count, expected in [
        ((0, 0), (0, 0), (0x6B200159, 0x99BA4EFE)),
        ((0xFFFFFFFF,) * 2, (0xFFFFFFFF,) * 2, (0x1CB996FC, 0xBB002BE7)),
        ((0x13198A2E, 0x03707344), (0x243F6A88, 0x85A308D3), (0xC4923A9C, 0x483DF7A0)),
    ]:
        got = random.threefry_2x32(np.array(key, np.uint32), np.array(count, np.uint32))
        np.testing.assert_array_equal(got, np.array(expected, np.uint32))
    assert random.threefry_2x32(np.zeros(2, np.uint32), np.zeros((3, 1), np.uint32)).shape == (3, 1)


def test_the_mesh_in_force():
    assert pxla.thread_resources.env.physical_mesh.empty
    mesh = Mesh(np.array(sagax.devices()[:1]), ("x",))
    with mesh:
        assert pxla.thread_resources.env.physical_mesh is mesh


def test_primitives_by_name():
    assert core.primitives.custom_jvp_call_p.name == "custom_jvp_call"
    assert core.primitives.lu_p.name == "lu"
    assert "sin_p" in dir(core.primitives)
    with pytest.raises(AttributeError, match="no_such_p"):
        core.primitives.no_such_p  # noqa: B018
