# One wrong fix of entropy_per_bin.py: where(p == 0, 0, -p * log(p)) has the right value and a nan gradient at an empty bin
import jax
import jax.numpy as jnp


def surprise(p):
    return jnp.where(p == 0, 0.0, -p * jnp.log(p))


def entropy(weights):
    probs = weights / weights.sum()
    return jax.vmap(surprise)(probs).sum()


weights = jnp.array([1.0, 1.0, 2.0])
value, grads = jax.value_and_grad(entropy)(weights)
print(round(float(value), 4), [round(float(g), 4) for g in grads])
