# error: ValueError
# expect: ValueError | TypeError
# line: 16
# also-line: 15
# depends: -
# fix: split_key
# result: (3,) True True

import jax
import jax.numpy as jnp

key = jax.random.key(0)
total = jnp.zeros(3)
for _ in range(4):
    key = jax.random.split(key)
    total += jax.random.uniform(key, (3,))
print(total.shape, bool(jnp.all(total > 0)), bool(jnp.all(total < 4)))
