# error: none
# expect: KeyReuseError
# jax-differs: jax gives dependent draws
# line: 16
# depends: -
# fix: split_key
# result: (100,) True

import jax
import jax.numpy as jnp


def sample(key, n):
    noise_key = jax.random.split(key)[1]
    noise = jax.random.normal(noise_key, (n,))
    signs = jax.random.rademacher(key, (n,))
    return noise * signs


values = sample(jax.random.key(9), 100)
print(values.shape, bool(jnp.all(jnp.abs(values) < 6)))
