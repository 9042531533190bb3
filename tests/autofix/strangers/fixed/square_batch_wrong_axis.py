# One correct fixed version of square_batch_wrong_axis.py
import jax
import jax.numpy as jnp

MEAN = jnp.array([1.0, 2.0, 3.0])


def score(weights, sample):
    return jnp.dot(weights, sample - MEAN)


# samples in rows; three samples of three features
samples = jnp.array([[1.0, 2.0, 3.0], [2.0, 4.0, 6.0], [0.0, 1.0, 0.0]])
weights = jnp.array([0.5, 1.0, -1.0])
batched = jax.jit(jax.vmap(score, in_axes=(None, 0)))
print([round(float(s), 4) for s in batched(weights, samples)])
