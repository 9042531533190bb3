# One correct fixed version of three_keys_of_two.py
import jax
import jax.numpy as jnp


def mixture(key, n):
    key_choice, key_left, key_right = jax.random.split(key, 3)
    side = jax.random.bernoulli(key_choice, 0.3, (n,))
    left = jax.random.normal(key_left, (n,)) - 2
    right = jax.random.normal(key_right, (n,)) + 2
    return jnp.where(side, left, right)


draws = mixture(jax.random.key(5), 1000)
print(draws.shape, bool(abs(float(draws.mean()) - 0.8) < 0.3))
