# error: TypeError
# line: 12
# depends: -
# fix: any
# result: (2, 3) [[-0.14999999105930328, 0.07999999821186066, -0.14000000059604645], [-0.1599999964237213, 1.2699999809265137, 0.14999999105930328]]

import jax
import jax.numpy as jnp


def reparameterize(key, mean, log_std):
    eps = jax.random.normal(key, mean.shape[0], mean.shape[1])
    return mean + jnp.exp(log_std) * eps


z = reparameterize(jax.random.key(1), jnp.zeros((2, 3)), jnp.zeros((2, 3)))
print(z.shape, z.round(2).tolist())
