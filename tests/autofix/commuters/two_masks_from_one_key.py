# error: none
# expect: KeyReuseError
# line: 21
# depends: -
# fix: any
# result: (3, 16)

import jax
import jax.numpy as jnp


def thin_out(key, values, rate):
    kept = jax.random.bernoulli(key, 1 - rate, values.shape)
    return jnp.where(kept, values / (1 - rate), 0.0)


@jax.jit
def network(key, x):
    x = thin_out(key, jnp.tanh(x), 0.25)
    x = jnp.cumsum(x, axis=1)
    return thin_out(key, x, 0.5)


batch = jnp.ones((3, 16))
print(network(jax.random.key(8), batch).shape)
