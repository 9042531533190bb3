# error: none
# expect: PrecisionLossWarning
# jax-differs: jax silently gives -inf: the exponentials underflow
# line: 21
# depends: -
# fix: logsumexp
# fixed-file: fixed/precision_log_evidence.py
# result: -527.42

import jax
import jax.numpy as jnp


def log_likelihood(mean, data):
    return -0.5 * jnp.sum((data - mean) ** 2)


@jax.jit
def log_evidence(means, data):
    terms = jax.vmap(log_likelihood, in_axes=(0, None))(means, data)
    return jnp.log(jnp.mean(jnp.exp(terms)))


data = jnp.linspace(-10.0, 12.0, 24)
means = jnp.array([-0.5, 0.0, 0.5, 1.0])
print(round(float(log_evidence(means, data)), 2))
