# One wrong fix of weight_decay_mapped_away.py: the total is of the parameters before the decay
import jax
import jax.numpy as jnp


def decay(params, rate):
    return jax.tree.map(lambda p: p * (1.0 - rate), params)


@jax.jit
def regularised(params, rate):
    total = sum(jnp.sum(p**2) for p in jax.tree.leaves(params))
    return decay(params, rate), total


params = {"dense": {"w": jnp.array([3.0, -4.0]), "b": jnp.array(1.0)}}
for _ in range(3):
    params, total = regularised(params, 0.5)
print(round(float(total), 4))
