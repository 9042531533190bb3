# One correct fixed version of precision_log_evidence.py
import jax
import jax.numpy as jnp


def log_likelihood(mean, data):
    return -0.5 * jnp.sum((data - mean) ** 2)


@jax.jit
def log_evidence(means, data):
    terms = jax.vmap(log_likelihood, in_axes=(0, None))(means, data)
    return jax.nn.logsumexp(terms) - jnp.log(terms.shape[0])


data = jnp.linspace(-10.0, 12.0, 24)
means = jnp.array([-0.5, 0.0, 0.5, 1.0])
print(round(float(log_evidence(means, data)), 2))
