# error: NameError
# line: 12
# depends: -
# fix: axis_name
# result: [0.0, 0.1667, 0.3333, 0.5]

import jax
import jax.numpy as jnp


def share(x):
    return x / jax.lax.psum(x, axis_name="devices")


shares = jax.jit(jax.vmap(share))
print(shares(jnp.arange(4.0)).tolist())
