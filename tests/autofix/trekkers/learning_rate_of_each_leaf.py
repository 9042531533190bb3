# error: ValueError
# line: 12
# depends: rates
# fix: any
# result: [-0.10000000149011612, -0.10000000149011612] -0.01

import jax
import jax.numpy as jnp


def update(params, grads, rates):
    return jax.tree.map(lambda p, g, r: p - r * g, params, grads, rates)


params = {"dense": {"w": jnp.ones((2, 2)), "b": jnp.zeros(2)}, "out": {"w": jnp.ones(2), "b": jnp.zeros(())}}
grads = jax.tree.map(lambda p: jnp.ones_like(p), params)
rates = {"dense": 0.1, "out": 0.01}
new = update(params, grads, rates)
print(new["dense"]["b"].round(3).tolist(), round(float(new["out"]["b"]), 3))
