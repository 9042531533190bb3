# One correct fixed version of covariance_just_not_positive.py
import jax
import jax.numpy as jnp


@jax.jit
def sample_path(x, noise):
    """A draw from a Gaussian process with a smooth kernel."""
    K = jnp.exp(-0.5 * ((x[:, None] - x[None, :]) / 2.0) ** 2)
    return jnp.linalg.cholesky(K + 1e-4 * jnp.eye(len(x))) @ noise


x = jnp.linspace(0.0, 5.0, 30)
path = sample_path(x, jnp.sin(jnp.arange(30.0)))
print(path.shape, bool(jnp.all(jnp.isfinite(path))))
