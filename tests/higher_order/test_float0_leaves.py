"""Arrays of dtype float0 among arguments and results of transformed functions, as on jax."""

from __future__ import annotations

import numpy as np
import pytest

import sagax
import sagax.numpy as snp
from sagax import lax

ZEROS = np.zeros((3,), sagax.dtypes.float0)


def is_no_tangent(x, shape=(3,)):
    return isinstance(x, np.ndarray) and x.dtype == sagax.dtypes.float0 and x.shape == shape


def test_arguments_of_jit_and_its_stages():
    f = sagax.jit(lambda x, z: (x * 2, z), donate_argnums=0)
    value, zeros = f(1.5, ZEROS)
    assert float(value) == 3.0 and is_no_tangent(zeros)
    assert float(sagax.jit(lambda x, z: x["a"] + z.size)({"a": 1.0}, z=ZEROS)) == 4.0
    compiled = sagax.jit(lambda x, z: x).lower(1.5, ZEROS).compile()
    assert compiled.in_avals[0][0].shape == ()
    static = sagax.jit(lambda n, z: snp.ones(n + z.size), static_argnums=0)
    assert static(2, ZEROS).shape == (5,)
    nested = sagax.jit(lambda x: sagax.jit(lambda x, z: x + z.size)(x, ZEROS))
    assert float(nested(1.0)) == 4.0


def test_arguments_of_vmap_lose_the_mapped_axis():
    seen = []
    both = sagax.vmap(lambda x, z: seen.append(z.shape) or (x, z), in_axes=(0, 1))
    value, zeros = both(snp.ones(3), np.zeros((2, 3), sagax.dtypes.float0))
    assert seen == [(2,)] and value.shape == (3,) and is_no_tangent(zeros, (3, 2))


@pytest.mark.parametrize("jitted", [False, True])
def test_control_flow(jitted):
    def f(x):
        carried, _ = lax.scan(lambda c, _: (c, None), {"x": x, "z": ZEROS}, None, length=2)
        _, stacked = lax.scan(lambda c, row: (c, (row, ZEROS)), x, snp.ones(2))
        chosen = lax.cond(x > 0, lambda z: z, lambda z: z, ZEROS)
        looped = lax.while_loop(lambda c: c[0] < 3, lambda c: (c[0] + 1, c[1]), (x, ZEROS))
        again = sagax.checkpoint(lambda x, z: (x, z))(x, ZEROS)
        return carried["z"], stacked[1], chosen, looped[1], again[1], looped[0]

    *zeros, count = (sagax.jit(f) if jitted else f)(1.0)
    assert float(count) == 3.0
    assert [z.shape for z in zeros] == [(3,), (2, 3), (3,), (3,), (3,)]
    assert all(z.dtype == sagax.dtypes.float0 for z in zeros)


@pytest.mark.parametrize("jitted", [False, True])
def test_residuals_of_a_custom_rule(jitted):
    @sagax.custom_vjp
    def scaled(x, n):
        return x * n

    scaled.defvjp(
        lambda x, n: (x * n, (n, ZEROS)),
        lambda kept, ct: (ct * kept[0] + kept[1].size, np.zeros((), sagax.dtypes.float0)),
    )
    slope = sagax.grad(scaled)
    assert float((sagax.jit(slope) if jitted else slope)(1.0, 4)) == 7.0


@pytest.mark.own_promotion("dtype")
def test_gradients_of_integers_pass_through_an_inner_jit():
    @sagax.jit
    def total(cotangents):
        return sum(x.sum() for x in sagax.tree.leaves(cotangents) if hasattr(x, "aval"))

    _, pull = sagax.vjp(lambda x, n: x * n, 2.0, snp.arange(3))
    assert float(total(pull(snp.ones(3)))) == 3.0


@pytest.mark.parametrize("rule", ["jvp", "vjp"])
def test_arguments_of_functions_with_custom_rules(rule):
    def value(x, extra):
        return x * extra["z"].size

    if rule == "jvp":
        f = sagax.custom_jvp(value)
        f.defjvp(lambda primals, tangents: (value(*primals), 5 * tangents[0]))
    else:
        f = sagax.custom_vjp(value)
        f.defvjp(lambda x, extra: (value(x, extra), None), lambda _, ct: (5 * ct, {"z": ZEROS}))
    assert float(f(2.0, {"z": ZEROS})) == 6.0
    assert float(sagax.grad(f)(2.0, {"z": ZEROS})) == 5.0
    assert float(sagax.jit(sagax.grad(f))(2.0, {"z": ZEROS})) == 5.0


def test_primals_of_derivatives():
    value, pull = sagax.vjp(lambda x, z: x * z.size, 2.0, ZEROS)
    slope, zeros = pull(1.0)
    assert float(value) == 6.0 and float(slope) == 3.0 and is_no_tangent(zeros)
    out, tangent = sagax.jvp(lambda x, z: x * z.size, (2.0, ZEROS), (1.0, ZEROS))
    assert float(out) == 6.0 and float(tangent) == 3.0


def test_arguments_of_shard_map_are_divided():
    mesh = sagax.make_mesh((1,), ("i",))
    for spec in (sagax.P(), sagax.P("i")):
        f = sagax.shard_map(
            lambda x, z: x * z.size, mesh=mesh, in_specs=(sagax.P(), spec), out_specs=sagax.P()
        )
        assert float(f(2.0, ZEROS)) == 6.0
