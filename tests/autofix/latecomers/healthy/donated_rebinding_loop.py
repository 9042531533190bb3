# error: none
# expect: none
# result: converged True

from functools import partial

import jax
import jax.numpy as jnp


@partial(jax.jit, donate_argnums=(0, 1))
def nesterov(params, velocity, target):
    def cost(p):
        return sum(jnp.sum((a - b) ** 2) for a, b in zip(p, target))

    ahead = jax.tree.map(lambda p, v: p + 0.8 * v, params, velocity)
    grads = jax.grad(cost)(ahead)
    velocity = jax.tree.map(lambda v, g: 0.8 * v - 0.05 * g, velocity, grads)
    return jax.tree.map(jnp.add, params, velocity), velocity


target = [jnp.arange(4.0), jnp.array([[1.0, -1.0]])]
params = [jnp.zeros(4), jnp.zeros((1, 2))]
velocity = jax.tree.map(jnp.zeros_like, params)
for _ in range(150):
    params, velocity = nesterov(params, velocity, target)
gap = max(float(jnp.abs(p - t).max()) for p, t in zip(params, target))
print("converged", gap < 1e-3)
