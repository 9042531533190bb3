# One correct fixed version of seed_made_in_each_call.py
import jax
import jax.numpy as jnp


def noisy_gradient(w, key):
    """Gradient with privacy noise."""
    exact = 2.0 * (w - jnp.array([1.0, -1.0]))
    return exact + 2.0 * jax.random.normal(key, w.shape)


key = jax.random.key(0)
w = jnp.zeros(2)
average = jnp.zeros(2)
for k in range(400):
    w = w - 0.1 * noisy_gradient(w, jax.random.fold_in(key, k))
    average = average + (w - average) / (k + 1)
print(bool(jnp.all(jnp.abs(average - jnp.array([1.0, -1.0])) < 0.25)))
