"""Expressions whose types and shardings over 8 devices are compared with those of jax.

`tests/oracle/sharding.py` records what jax gives, `core/test_shardings.py` evaluates the same with sagax. In the
expressions `mesh` has the axes x: 4 and y: 2; `arr(shape, *spec)` is an array of that shape, divided so.
"""

from __future__ import annotations

from typing import Any

import numpy as np

# What the type of the result shows, over a mesh of Explicit axes.
EXPLICIT = """
arr((8, 4), 'x', 'y') + arr((8, 4), 'x', 'y')
arr((8, 4), 'x', 'y') + arr((8, 4))
arr((8, 4), 'x') + arr((8, 4), None, 'y')
arr((8, 4), 'x', 'y') + arr((4,), 'y')
arr((8, 4), 'x', 'y') + 1
arr((8, 4), 'x', 'y') + arr((8,), 'x')[:, None]
arr((8, 4), 'x', 'y') + jnp.ones((8, 4))
jnp.clip(arr((8, 4), 'x', 'y'), 0, 1)
arr((8, 4), 'x', 'y') > 2
arr((8, 4), 'x', 'y').sum(0)
arr((8, 4), 'x', 'y').max(1)
arr((8, 4), 'x', 'y').argmax(0)
arr((8, 4), 'x', 'y').mean()
jnp.cumsum(arr((8, 4), 'x'), 1)
jnp.sort(arr((8, 4), 'x'), 1)
arr((8, 4), 'x', 'y').T
jnp.swapaxes(arr((8, 2, 4), 'x', None, 'y'), 0, 2)
arr((8, 4), 'x', 'y')[:, None]
arr((1, 8), None, 'x').squeeze(0)
arr((8, 4), 'x', 'y').reshape(-1)
arr((8, 4), 'x').reshape(-1)
arr((8,), 'x').reshape(4, 2)
arr((8,), 'x').reshape(8, 1)
arr((8, 4, 2), 'x').reshape(8, 8)
arr((8, 4, 2), 'x', 'y').reshape(8, 8)
arr((8, 4, 2), None, None, 'y').reshape(32, 2)
lax.reshape(arr((8, 4), 'x', 'y'), (32,), out_sharding=P('x'))
jnp.reshape(arr((8, 4), 'x', 'y'), (32,), out_sharding=P('x'))
arr((8, 4), 'x') @ arr((4, 16))
arr((8, 4), 'x') @ arr((4, 16), None, 'y')
arr((8, 4), 'x', 'y') @ arr((4, 16))
jnp.dot(arr((8, 4), 'x', 'y'), arr((4, 16), 'y'), out_sharding=P('x'))
jnp.matmul(arr((8, 4), 'x', 'y'), arr((4, 16), 'y'), out_sharding=P('x', 'y'))
jnp.einsum('bij,bjk->bik', arr((8, 2, 4), 'x'), arr((8, 4, 2), 'x'))
jnp.einsum('ij,jk->ik', arr((8, 4), 'x', 'y'), arr((4, 16), 'y'), out_sharding=P('x'))
arr((8, 4), 'x')[:, :2]
arr((8, 4), 'x')[:, 0]
arr((8, 4))[jnp.array([0, 1])]
lax.dynamic_slice(arr((8, 4), 'x'), (0, 0), (8, 2))
lax.dynamic_update_slice(arr((8, 4), 'x'), arr((8, 2), 'x'), (0, 0))
arr((8, 4)).at[0].add(1.0)
arr((8, 4), 'x').at[:, 0].set(1.0)
arr((8, 4), 'x').at[jnp.arange(4)].get(out_sharding=P('x'))
jnp.concatenate([arr((8, 4), 'x'), arr((8, 4), 'x')], 1)
jnp.concatenate([arr((8, 4), 'x'), arr((8, 4), 'x')], 0)
jax.shard_map(lambda x: x * 2, in_specs=P('x'), out_specs=P('x'), axis_names={'x'})(arr((8, 4), 'x', 'y'))
jax.jit(jax.shard_map(lambda x: lax.psum(x, 'x'), in_specs=P('x'), out_specs=P(), axis_names={'x'}))(arr((8, 4), 'x', 'y'))
jax.shard_map(lambda x: x.sum(axis=1), out_specs=P('x'), axis_names={'x'})(arr((8, 4), 'x', 'y'))
jax.vmap(jax.shard_map(lambda x: x, in_specs=P('y'), out_specs=P('y')))(arr((8, 4), 'x', 'y'))
jax.grad(lambda x: jax.shard_map(lambda x: jnp.sin(x) * x, in_specs=P('x'), out_specs=P('x'), axis_names={'x'})(x).sum())(arr((8, 4), 'x', 'y'))
jax.shard_map(lambda x: jax.shard_map(lambda z: lax.psum(z, 'y'), in_specs=P(None, 'y'), out_specs=P(), axis_names={'y'})(x), in_specs=P('x'), out_specs=P('x'), axis_names={'x'})(arr((8, 4), 'x', 'y'))
arr((16, 3), ('x', 'y')).reshape(4, 2, 2, 3)
arr((8, 3), ('x', 'y')).reshape(4, 2, 3)
arr((8, 3), ('x', 'y')).reshape(8, 1, 3)
arr((16,), ('x', 'y')).reshape(8, 2)
arr((16,), ('x', 'y')).reshape(4, 4)
arr((4, 2, 6), 'x', 'y').reshape(8, 6)
arr((4, 2, 6), 'x', 'y').reshape(48)
arr((8, 2, 6), 'x', 'y').reshape(16, 6)
jnp.stack([arr((8, 4), 'x'), arr((8, 4), 'x')])
jnp.pad(arr((8, 4), 'x'), ((0, 0), (0, 2)))
jnp.broadcast_to(arr((4,), 'y'), (8, 4))
lax.broadcast_in_dim(arr((4,), 'y'), (8, 4), (1,), out_sharding=P('x', 'y'))
jnp.arange(8, out_sharding=P('x'))
jnp.zeros((8,), out_sharding=P('x'))
jnp.zeros((8,), device=NamedSharding(mesh, P('x')))
jnp.flip(arr((8, 4), 'x'), 1)
lax.conv(arr((8, 1, 4, 4), 'x'), jnp.ones((1, 1, 2, 2)), (1, 1), 'SAME')
arr((8, 4), 'x').astype(jnp.int32)
jnp.split(arr((8, 4), 'x'), 2, 1)[0]
jax.nn.softmax(arr((8, 4), 'x'), 1)
lax.top_k(arr((8, 4), 'x'), 2)[1]
jax.nn.one_hot(arr((8,), 'x').astype(jnp.int32), 4)
jax.random.normal(jax.random.key(0), (8,), out_sharding=P('x'))
lax.reduce_window(arr((8, 4, 4, 2), 'x', None, None, 'y'), 0., lax.add, (1, 2, 2, 1), (1, 2, 2, 1), 'SAME')
lax.reduce_window(arr((8, 4), 'x', None), np.inf, lax.min, (2, 2), (1, 1), 'SAME')
jax.grad(lambda a: lax.reduce_window(a, -np.inf, lax.max, (1, 2, 2, 1), (1, 2, 2, 1), 'VALID').sum())(arr((8, 4, 4, 2), 'x'))
jax.jvp(lambda a: lax.reduce_window(a, -np.inf, lax.max, (1, 2), (1, 2), 'VALID'), (arr((8, 4), 'x'),), (arr((8, 4), 'x'),))[1]
jax.vmap(lambda a: lax.reduce_window(a, -np.inf, lax.max, (2, 2), (2, 2), 'VALID'))(arr((8, 4, 4), 'x'))
lax.approx_max_k(arr((8, 4), 'x'), 2)[1]
lax.linalg.lu_pivots_to_permutation(arr((8, 4), 'x').astype(jnp.int32) * 0, 4)
lax.linalg.householder_product(arr((8, 4, 4), 'x') * 0, arr((8, 4), 'x') * 0)
lax.linalg.hessenberg(arr((8, 4, 4), 'x'))[1]
lax.linalg.tridiagonal(arr((8, 4, 4), 'x') * 0 + jnp.eye(4))[1]
lax.linalg.tridiagonal_solve(arr((8, 4), 'x') * 0, arr((8, 4), 'x') * 0 + 4, arr((8, 4), 'x') * 0, arr((8, 4, 1), 'x'))
lax.linalg.symmetric_product(arr((8, 4, 4), 'x'), arr((8, 4, 4), 'x'))
jnp.linalg.solve(arr((8, 4, 4), 'x') + 1000 * jnp.eye(4), arr((8, 4, 1), 'x'))
jax.grad(lambda a: jnp.linalg.slogdet(a)[1].sum())(arr((8, 4, 4), 'x') + 1000 * jnp.eye(4))
jax.vmap(lambda s: jax.random.key_data(jax.random.key(s)))(jnp.arange(8, out_sharding=P('x')))
jax.vmap(lambda k: jax.random.normal(k, (4,)))(jax.random.wrap_key_data(arr((8, 2), 'x').astype(jnp.uint32)))
jax.nn.dot_product_attention(*[arr((8, 4, 2, 4), 'x', None, 'y') / 100] * 3, is_causal=True)
jnp.take_along_axis(arr((8, 4), 'x'), arr((8, 1), 'x').astype(jnp.int32) % 4, axis=1)
jax.grad(lambda t: (t.at[arr((8,), 'x').astype(jnp.int32)].get(out_sharding=P('x')) ** 2).sum())(arr((16, 4)))
jax.vmap(lambda a, i: a.at[i].set(0.))(arr((8, 4), 'x'), arr((8,), 'x').astype(jnp.int32) % 4)
jax.nn.initializers.he_normal()(jax.random.key(0), (8, 4), jnp.float32, P('x', 'y'))
jax.nn.initializers.constant(2.)(jax.random.key(0), (8, 4), out_sharding=P('x', 'y'))
jax.nn.one_hot(arr((8,), 'x').astype(jnp.int32), 4, out_sharding=P('x', 'y'))
jax.vmap(lambda a: jnp.ones(3), out_axes=1)(arr((8, 4), 'x'))
jax.vmap(jax.jit(lambda a: jnp.ones(3)))(arr((8, 4), 'x'))
jax.vmap(lambda a: lax.cond(a.sum() > 0, lambda: jnp.zeros(3), lambda: jnp.ones(3)))(arr((8, 4), 'x'))
jax.vmap(jax.grad(lambda a: a.sum()))(arr((8, 4), 'x'))
jax.vmap(jax.hessian(lambda a: (a * a).sum()))(arr((8, 4), 'x'))
jax.vmap(jax.grad(lambda a: jax.checkpoint(jnp.sin)(a).sum()))(arr((8, 4), 'x'))
jax.vmap(jax.grad(lambda a: jax.nn.relu(jnp.tanh(a) @ jnp.ones((4, 2))).sum()))(arr((8, 4), 'x'))
jax.vmap(lambda a: lax.map(lambda r: r * 2, a))(arr((8, 4), 'x'))
lax.ragged_dot(arr((8, 4)), arr((2, 4, 4), None, None, 'y'), jnp.array([4, 4]), out_sharding=P(None, 'y'))
lax.reduce_max(arr((8, 4), 'x', 'y'), (1,), out_sharding=P('y'))
lax.reduce(arr((8, 4), 'x', 'y'), 0., lax.add, (1,), out_sharding=P('x'))
lax.rng_bit_generator(jnp.zeros(4, jnp.uint32), (8, 4), out_sharding=P('x', 'y'))[1]
jax.ops.segment_sum(arr((8, 4), 'x'), jnp.arange(8) // 2, 4, out_sharding=P('x'))
jax.grad(lambda a: (jnp.sin(a) ** 2).sum())(arr((8, 4), 'x', 'y'))
jax.grad(lambda w: ((arr((8, 4), 'x') @ w) ** 2).sum())(arr((4, 16), None, 'y'))
jax.grad(lambda b: ((b @ arr((4, 16), None, 'y')) ** 2).sum())(arr((8, 4), 'x'))
jax.grad(lambda a: a.reshape(4, 2, 4).sum(1).mean())(arr((8, 4), 'x', 'y'))
jax.vmap(lambda r: r * 2)(arr((8, 4), 'x'))
jax.vmap(lambda r: r.sum())(arr((8, 4), 'x'))
jax.vmap(lambda r, w: r @ w, in_axes=(0, None))(arr((8, 4), 'x'), arr((4, 16), None, 'y'))
lax.scan(lambda c, x: (c + x, c), arr((4,), 'y'), arr((8, 4), None, 'y'))[1]
lax.while_loop(lambda c: c.sum() < 1, lambda c: c + 1, arr((8, 4), 'x', 'y'))
lax.cond(True, lambda: arr((8, 4), 'x'), lambda: arr((8, 4), 'x') * 2)
jax.jit(lambda a, w: jnp.sin(a) @ w)(arr((8, 4), 'x'), arr((4, 16), None, 'y'))
jnp.fft.fft(arr((8, 4), 'x'))
auto_axes(lambda a: jnp.cumsum(a, 0), out_sharding=P('x', 'y'))(arr((8, 4), 'x', 'y'))
auto_axes(lambda a: a + 1, axes='x', out_sharding=P('x', 'y'))(arr((8, 4), 'x', 'y'))
reshard(arr((8, 4), 'x', 'y'), P('y'))
lax.with_sharding_constraint(arr((8, 4), 'x', 'y'), P('x', 'y'))
""".strip().splitlines()

# What is refused there, since the result would depend on a choice.
AMBIGUOUS = """
arr((8, 4), 'x') + arr((8, 4), 'y')
arr((8, 4), 'x', 'y') + arr((8, 4), 'y')
arr((8, 4), 'x', 'y') @ arr((4, 16), 'y')
arr((8, 4), 'x', 'y') @ arr((4, 16), 'x')
arr((8, 4), 'x') @ arr((4, 16), None, 'x')
jnp.cumsum(arr((8, 4), 'x'), 0)
jnp.sort(arr((8, 4), 'x'), 0)
arr((8,), 'x').reshape(2, 4)
arr((8, 2), 'x', 'y').reshape(4, 4)
arr((16,), ('x', 'y')).reshape(2, 8)
arr((2, 8), None, 'x').reshape(16)
arr((8, 4), 'x')[0]
arr((8, 4), 'x')[jnp.array([0, 1])]
arr((8, 4), 'x').at[0].set(0.0)
lax.with_sharding_constraint(arr((8, 4), 'x', 'y'), P('y'))
""".strip().splitlines()

# The shardings that the compiler gives to results, over a mesh of Auto axes.
AUTO = """
arr((8, 4), 'x', 'y') + 1
jnp.sin(arr((8, 4), 'x', 'y')) @ arr((4, 16), 'y')
arr((8, 4), 'x', 'y').T
arr((8, 4), 'x', 'y').sum(0)
arr((8, 4), ('x', 'y')) * 2
arr((8, 4), ('y', 'x')) * 2
arr((8, 4), None, 'x') * arr((8, 4), 'y')
jax.jit(lambda a: lax.with_sharding_constraint(a * 2, NamedSharding(mesh, P('y'))))(np.ones((8, 4)))
jax.jit(lambda a: a * 2, in_shardings=NamedSharding(mesh, P('y')))(np.ones((8, 4)))
jax.jit(lambda a: a * 2, out_shardings=NamedSharding(mesh, P(None, 'x')))(np.ones((8, 4)))
jax.jit(lambda a: a * 2, out_shardings=NamedSharding(mesh, P('y')))(arr((8, 4), 'x'))
jax.device_put(np.ones((8, 4)), NamedSharding(mesh, P('x')))
jax.device_put(arr((8, 4), 'x'), NamedSharding(mesh, P('y', 'x')))
jax.grad(lambda a: (a ** 2).sum())(arr((8, 4), 'x', 'y'))
jax.vmap(lambda r: r * 2)(arr((8, 4), 'x', 'y'))
""".strip().splitlines()


def names(jax: Any, np_like: Any, sharding: Any, explicit: bool) -> dict[str, Any]:
    """What the expressions refer to, for the package `jax` with its numpy and sharding namespaces."""
    kind = sharding.AxisType.Explicit if explicit else sharding.AxisType.Auto
    mesh = jax.make_mesh((4, 2), ("x", "y"), (kind, kind))
    P, NamedSharding = sharding.PartitionSpec, sharding.NamedSharding

    def arr(shape: tuple, *spec: Any) -> Any:
        x = np.arange(np.prod(shape), dtype=np.float32).reshape(shape)
        return jax.device_put(x, NamedSharding(mesh, P(*spec)))

    return {
        "jax": jax,
        "jnp": np_like,
        "lax": jax.lax,
        "np": np,
        "P": P,
        "NamedSharding": NamedSharding,
        "auto_axes": sharding.auto_axes,
        "reshard": sharding.reshard,
        "mesh": mesh,
        "arr": arr,
    }


def parts_of(x: Any) -> list:
    """The index of each device's part, and its values' sum, in the order of the devices."""
    shards = sorted(x.addressable_shards, key=lambda s: s.device.id)
    found = []
    for s in shards:
        index = [list(i.indices(n)[:2]) for i, n in zip(s.index, x.shape, strict=True)]
        found.append([s.device.id, index, float(np.sum(np.asarray(s.data), dtype=np.float64))])
    return found
