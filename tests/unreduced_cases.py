"""Expressions with unreduced and reduced axes over 8 devices, compared with those of jax.

`tests/oracle/unreduced.py` records what jax gives, `core/test_unreduced.py` evaluates the same with sagax. The mesh
has the Explicit axes x: 4 and y: 2. `u` is a product whose sums over y are not added up, `r` is marked reduced along y.
"""

from __future__ import annotations

from typing import Any

import numpy as np

# The type that the result shows, or that it raises: jax's class of these errors is a plain Exception.
TYPES = """
u
r
jnp.zeros((4, 4), out_sharding=P(unreduced={'x', 'y'}))
jnp.zeros((4, 4), out_sharding=P(unreduced={'x'}, reduced={'y'}))
u + u
u - u
-u
u.T
u.sum(1)
u.sum(0)
u.reshape(4, 2, 2)
u[None]
u.astype('bfloat16')
jnp.concatenate([u, u], 1)
jnp.where(True, u, u)
jnp.broadcast_to(u, (3, 4, 4))
u * r
r * u
u / r
jnp.exp(r)
r + r
r + 1
r.T
r.sum(1)
r @ jnp.ones((4, 2), out_sharding=P(None, 'y'))
reshard(u, P('x', None))
reshard(u, P('x', 'y'))
reshard(u, P())
reshard(r, P('x', None))
reshard(r, U)
reshard(plain, U)
reshard(jnp.zeros((4, 4), out_sharding=P(unreduced={'x', 'y'})), P(unreduced={'x'}))
lax.reduce_sum(a, (1,), out_sharding=P('x', unreduced={'y'}))
jax.jit(lambda a, b: jnp.einsum('ab,bc->ac', a, b, out_sharding=U))(a, b)
jax.jit(lambda a, b: jnp.einsum('ab,bc->ac', a, b, out_sharding=U), out_shardings=P('x', None))(a, b)
jax.grad(loss)(w, x)
jax.grad(loss)(reshard(w, P(None, None, reduced={'x'})), x)
jax.vjp(lambda a, b: jnp.einsum('ab,bc->ac', a, b, out_sharding=U), a, b)[1](r)[0]
u + 1.0
u + plain
u * 2.0
u * u
u / 2.0
jnp.sin(u)
u < u
u.max(1)
u @ jnp.ones((4, 4))
r + plain
np.asarray(u)
P(None, unreduced={'y'}, reduced={'y'})
P('y', unreduced={'y'})
P('y', reduced={'y'})
P('x', unreduced={None})
P('x', unreduced='y')
NamedSharding(mesh, P(unreduced={'z'}))
NamedSharding(auto_mesh, P(unreduced={'x'}))
NamedSharding(mesh, U).is_fully_replicated
P('x', None, unreduced={'y'}) == P('x', None)
""".strip().splitlines()

# Values, read after they are added up.
VALUES = """
added(u)
added(-u)
added(u + u)
added(u * reshard(3 * np.ones((4, 4), 'float32'), P('x', None, reduced={'y'})))
reshard(u, P('x', 'y'))
reshard(u.sum(1), P('x'))
reshard(u.sum(0), P())
added(reshard(plain, U))
summands(jax.jit(lambda a, b: jnp.einsum('ab,bc->ac', a, b, out_sharding=U))(a, b))
summands(jax.jit(lambda a, b: -jnp.einsum('ab,bc->ac', a, b, out_sharding=U))(a, b))
summands(jax.jit(lambda x: reshard(x, U))(plain))
jax.grad(loss)(w, x)
jax.jit(jax.grad(marked_loss))(w, x)
reshard(jax.jit(jax.grad(loss))(reshard(w, P(None, None, reduced={'x'})), x), P())
summands(jax.jit(jax.grad(loss))(reshard(w, P(None, None, reduced={'x'})), x))
jax.jit(accumulated)(reshard(w, P(None, None, reduced={'x'})), jnp.stack([x, 2 * x]))
jax.grad(lambda a: reshard(jnp.einsum('ab,bc->ac', a, b, out_sharding=U), P('x', None)).sum())(a)
""".strip().splitlines()

# The types of results of functions of one device, mapped by shard_map, and their values where these can be read.
MAPPED = """
smap(lambda x: lax.pcast(x, 'y', to='unreduced'), P('x', 'y'), U)(full)
smap(lambda x: lax.pcast(x, 'y', to='reduced'), P('x', None), P('x', None, reduced={'y'}))(plain)
smap(lambda x: lax.pcast(lax.pcast(x, 'y', to='reduced'), 'y', to='varying'), P('x', None), P('x', 'y'))(plain)
smap(lambda x: lax.psum(lax.pcast(x, 'y', to='unreduced'), 'y'), P('x', 'y'), P('x', None))(full)
smap(lambda x: lax.psum(x, 'y'), U, P('x', None))(u)
smap(lambda x: lax.pmean(lax.pcast(x, 'y', to='unreduced'), 'y'), P('x', 'y'), P('x', None))(full)
smap(lambda x: lax.all_gather(x, 'y', axis=1, tiled=True, to='reduced'), P('x', 'y'), P('x', None, reduced={'y'}))(full)
smap(lambda x: x + x, U, U)(u)
smap(lambda x: x.T.T, U, U)(u)
smap(lambda x, r: x * r, (U, P('x', None, reduced={'y'})), U)(u, r)
smap(lambda x, r: x + lax.pcast(r, 'y', to='reduced'), (P('x', 'y'), P('x', None)), P('x', 'y'))(full, plain[:, :2])
smap(lambda x: lax.scan(lambda c, _: (c + lax.pcast(x, 'y', to='unreduced'), None), lax.pcast(jnp.zeros_like(x), 'y', to='unreduced'), None, length=3)[0], P('x', 'y'), U)(full)
smap(lambda x: jnp.sin(lax.pcast(x, 'y', to='unreduced')), P('x', 'y'), U)(full)
smap(lambda x: lax.pcast(x, 'y', to='unreduced') + x, P('x', 'y'), U)(full)
smap(lambda x: lax.pcast(x, 'y', to='unreduced'), P('x', None), U)(plain)
smap(lambda x: lax.pcast(x, 'y', to='reduced'), P('x', 'y'), P('x', None))(full)
smap(lambda x: lax.pcast(x, 'y', to='varying'), P('x', 'y'), P('x', 'y'))(full)
smap(lambda x: lax.pcast(x, 'y', to='other'), P('x', None), P('x', None))(plain)
smap(lambda x: x, P('x', 'y'), U)(full)
smap(lambda x: lax.pcast(x, 'y', to='unreduced'), P('x', 'y'), P('x', 'y'))(full)
smap(lambda x: x, U, U)(plain)
smap(lambda x: x, P('x', None, reduced={'y'}), P('x', None, reduced={'y'}))(plain)
mapped_loss(marked, x)
jax.jit(jax.grad(mapped_loss))(marked, x)
reshard(jax.jit(jax.grad(mapped_loss))(marked, x), P())
smap(inner_gradient, (P('x', None), P()), P())(x, w)
no_casts(lambda x, y: x + lax.pcast(y, 'y', to='varying'))
no_casts(lambda x, y: x + y)
no_casts(lambda x, y: x + 1.0)
""".strip().splitlines()


def names(jax: Any) -> dict[str, Any]:
    """What the expressions refer to, over the mesh in force."""
    jnp, lax, P = jax.numpy, jax.lax, jax.sharding.PartitionSpec
    reshard, AxisType = jax.sharding.reshard, jax.sharding.AxisType
    U = P("x", None, unreduced={"y"})

    def numbers(*shape: int) -> np.ndarray:
        return np.arange(float(np.prod(shape)), dtype=np.float32).reshape(shape)

    a, b = reshard(numbers(4, 2), P("x", "y")), reshard(numbers(2, 4), P("y", None))
    x, w = reshard(numbers(8, 2), P("x", None)), reshard(numbers(2, 4), P(None, None))

    @jax.jit
    def product(a: Any, b: Any) -> Any:
        return jnp.einsum("ab,bc->ac", a, b, out_sharding=U)

    def loss(w: Any, x: Any) -> Any:
        return ((x @ w) ** 2).sum()

    def marked_loss(w: Any, x: Any) -> Any:
        return loss(reshard(w, P(None, None, reduced={"x"})), x)

    def accumulated(w: Any, xs: Any) -> Any:
        def body(total: Any, x: Any) -> Any:
            return total + jax.grad(loss)(w, x), None

        start = jnp.zeros(w.shape, out_sharding=P(None, None, unreduced={"x"}))
        return reshard(lax.scan(body, start, xs)[0], P())

    def smap(f: Any, ins: Any, outs: Any) -> Any:
        return jax.jit(jax.shard_map(f, in_specs=ins, out_specs=outs))

    def mapped_loss(w: Any, x: Any) -> Any:
        def of_one(w: Any, x: Any) -> Any:
            return lax.psum(((x @ w) ** 2).sum(), "x")

        return smap(of_one, (P(None, None, reduced={"x"}), P("x", None)), P())(w, x)

    def inner_gradient(x: Any, w: Any) -> Any:
        w = lax.pcast(w, "x", to="reduced")
        return lax.psum(
            jax.grad(lambda w: ((x @ lax.pcast(w, "x", to="varying")) ** 2).sum())(w), "x"
        )

    full = reshard(numbers(4, 4), P("x", "y"))

    def no_casts(f: Any) -> Any:
        with jax.auto_pcast(False):
            ins = (P("x", "y"), P("x", None))
            return smap(f, ins, P("x", "y"))(full, reshard(numbers(4, 2), P("x", None)))

    return {
        "smap": smap,
        "full": full,
        "mapped_loss": mapped_loss,
        "inner_gradient": inner_gradient,
        "no_casts": no_casts,
        "marked": reshard(w, P(None, None, reduced={"x"})),
        "jax": jax,
        "jnp": jnp,
        "np": np,
        "lax": lax,
        "P": P,
        "U": U,
        "NamedSharding": jax.sharding.NamedSharding,
        "reshard": reshard,
        "mesh": jax.sharding.get_mesh(),
        "auto_mesh": jax.make_mesh((4, 2), ("x", "y"), (AxisType.Auto, AxisType.Auto)),
        "u": product(a, b),
        "r": reshard(jnp.ones((4, 4), out_sharding=P("x", None)), P("x", None, reduced={"y"})),
        "plain": reshard(numbers(4, 4), P("x", None)),
        "added": lambda x: reshard(x, P("x", None)),
        "summands": lambda x: np.stack([np.asarray(s.data) for s in x.addressable_shards]),
        "a": a,
        "b": b,
        "x": x,
        "w": w,
        "loss": loss,
        "marked_loss": marked_loss,
        "accumulated": accumulated,
    }


def shown(jax: Any, expression: str, found: Any) -> Any:
    """The type of an array, or the text of what is none."""
    return str(jax.typeof(found)) if hasattr(found, "aval") else str(found)


def readable(jax: Any, x: Any) -> Any:
    """The elements of an array, or its summands."""
    if x.sharding.spec.unreduced:
        return [np.asarray(s.data).tolist() for s in x.addressable_shards]
    return np.asarray(x).tolist()
