# error: TypeError
# line: 13
# depends: -
# fix: where
# fixed-file: fixed/cond_predicate_array.py
# result: [0.8, 0.05, 0.0]

import jax
import jax.numpy as jnp


def rectify(current, threshold):
    return jax.lax.cond(
        current > threshold,
        lambda i: i - threshold,
        lambda i: jnp.zeros_like(i),
        current,
    )


@jax.jit
def firing_rates(inputs, weights, threshold):
    return rectify(inputs @ weights, threshold)


inputs = jnp.array([1.0, 0.5])
weights = jnp.array([[0.8, -0.2, 0.1], [0.4, 0.9, 0.2]])
print([round(float(r), 3) for r in firing_rates(inputs, weights, 0.2)])
