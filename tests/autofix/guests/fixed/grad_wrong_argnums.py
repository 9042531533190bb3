# One correct fixed version of grad_wrong_argnums.py
import jax
import jax.numpy as jnp


def negative_log_likelihood(params, data):
    mean, log_scale = params
    z = (data - mean) / jnp.exp(log_scale)
    return 0.5 * jnp.sum(z**2) + data.shape[0] * log_scale


score = jax.grad(negative_log_likelihood, argnums=0)

data = jnp.array([1.0, 2.0, 4.0])
params = jnp.array([0.0, 0.0])
for _ in range(200):
    params = params - 0.05 * score(params, data)
print([round(float(p), 3) for p in params])
