# error: ValueError
# expect: TypeError | ValueError
# line: 14
# also-line: 13
# depends: -
# fix: key
# result: (1000,) True

import jax
import jax.numpy as jnp

key = jax.random.key(0)
subkey = jax.random.split(key)
noise = jax.random.normal(subkey, (1000,))
print(noise.shape, bool(jnp.abs(noise.mean()) < 0.1))
