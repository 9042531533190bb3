# error: none
# expect: KeyReuseError
# jax-differs: the same key twice
# line: 15
# depends: -
# fix: any
# result: (4,)

import jax
import jax.numpy as jnp


def augment(key, x):
    order = jax.random.permutation(key, x.shape[0])
    noise = jax.random.normal(key, x.shape)
    return x[order] + 0.1 * noise


out = augment(jax.random.key(0), jnp.arange(4.0))
print(out.shape)
