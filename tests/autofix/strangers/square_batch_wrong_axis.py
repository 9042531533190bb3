# error: none
# expect: AmbiguousAxesWarning
# jax-differs: jax silently maps over features instead of samples
# line: 25
# also-line: 26
# depends: -
# fix: in_axes
# fixed-file: fixed/square_batch_wrong_axis.py
# result: [0.0, -0.5, 1.5]
# family: 2/axes-that-fit-by-luck

import jax
import jax.numpy as jnp

MEAN = jnp.array([1.0, 2.0, 3.0])


def score(weights, sample):
    return jnp.dot(weights, sample - MEAN)


# samples in rows; three samples of three features
samples = jnp.array([[1.0, 2.0, 3.0], [2.0, 4.0, 6.0], [0.0, 1.0, 0.0]])
weights = jnp.array([0.5, 1.0, -1.0])
batched = jax.jit(jax.vmap(score, in_axes=(None, 1)))
print([round(float(s), 4) for s in batched(weights, samples)])
