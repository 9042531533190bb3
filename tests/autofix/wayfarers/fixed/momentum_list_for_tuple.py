# One correct fixed version of momentum_list_for_tuple.py
import jax
import jax.numpy as jnp

ATE = 0.1


def loss(params, x, y):
    w, b = params
    return jnp.mean((x @ w + b - y) ** 2)


def init(key):
    return (jax.random.normal(key, (3,)), jnp.zeros(()))


params = init(jax.random.key(1))
velocity = tuple(jnp.zeros_like(p) for p in params)
x = jnp.arange(12.0).reshape(4, 3) / 10
y = jnp.array([1.0, 2.0, 3.0, 4.0])
for _ in range(5):
    grads = jax.grad(loss)(params, x, y)
    velocity = jax.tree.map(lambda v, g: 0.9 * v + g, velocity, grads)
    params = jax.tree.map(lambda p, v: p - ATE * v, params, velocity)
print(round(float(loss(params, x, y)), 4))
