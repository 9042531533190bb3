# One correct fixed version of scipy_in_likelihood.py
import jax
import jax.numpy as jnp
from jax.scipy.special import gammaln


def log_likelihood(shape, counts, mean):
    p = shape / (shape + mean)
    norm = gammaln(counts + shape) - gammaln(shape) - gammaln(counts + 1.0)
    return jnp.sum(norm + shape * jnp.log(p) + counts * jnp.log1p(-p))


counts = jnp.array([0.0, 3.0, 1.0, 7.0, 2.0])
shape = jnp.array(1.0)
ascent = jax.jit(jax.grad(log_likelihood))
for _ in range(50):
    shape = shape + 0.2 * ascent(shape, counts, counts.mean())
print(round(float(shape), 3))
