# error: TypeError
# expect: TypeError | ValueError
# line: 20
# also-line: 25
# depends: -
# fix: argnums
# fixed-file: fixed/grad_wrong_argnums.py
# result: [2.333, 0.221]

import jax
import jax.numpy as jnp


def negative_log_likelihood(params, data):
    mean, log_scale = params
    z = (data - mean) / jnp.exp(log_scale)
    return 0.5 * jnp.sum(z**2) + data.shape[0] * log_scale


score = jax.grad(negative_log_likelihood, argnums=2)

data = jnp.array([1.0, 2.0, 4.0])
params = jnp.array([0.0, 0.0])
for _ in range(200):
    params = params - 0.05 * score(params, data)
print([round(float(p), 3) for p in params])
