# One wrong fix of evidence_of_mixture.py: the largest term is the sum only where the others are far below it
import jax
import jax.numpy as jnp


def log_normal(x, mean, scale):
    z = (x - mean) / scale
    return -0.5 * z**2 - jnp.log(scale) - 0.9189385


@jax.jit
def evidence(log_weights, log_likelihoods):
    return jnp.max(log_weights + log_likelihoods)


means = jnp.array([0.0, 1.0, 2.0])
log_weights = jnp.log(jnp.array([0.2, 0.3, 0.5]))
log_likelihoods = log_normal(20.0, means, 1.0)
print(round(float(evidence(log_weights, log_likelihoods)), 3))
