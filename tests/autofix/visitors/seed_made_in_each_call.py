# error: none
# expect: KeyReuseError | UnusedResultWarning
# jax-differs: jax silently gives the same noise to each call
# line: 20
# also-line: 18
# depends: -
# fix: pass_argument
# fixed-file: fixed/seed_made_in_each_call.py
# result: True
# family: silent/key-reuse-seed-in-function

import jax
import jax.numpy as jnp


def noisy_gradient(w):
    """Gradient with privacy noise."""
    key = jax.random.key(0)
    exact = 2.0 * (w - jnp.array([1.0, -1.0]))
    return exact + 2.0 * jax.random.normal(key, w.shape)


w = jnp.zeros(2)
average = jnp.zeros(2)
for k in range(400):
    w = w - 0.1 * noisy_gradient(w)
    average = average + (w - average) / (k + 1)
print(bool(jnp.all(jnp.abs(average - jnp.array([1.0, -1.0])) < 0.25)))
