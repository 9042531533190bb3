import jax
import jax.numpy as jnp


def periodic_kernel(x, z, period, ell):
    delta = x[:, None] - z[None, :]
    return jnp.exp(-2 * jnp.sin(jnp.pi * delta / period) ** 2 / ell**2)


@jax.jit
def posterior_mean(x, y, z, noise=0.1):
    k = periodic_kernel(x, x, 2.0, 1.0) + noise**2 * jnp.eye(x.size)
    chol = jax.scipy.linalg.cho_factor(k, lower=True)
    return periodic_kernel(z, x, 2.0, 1.0) @ jax.scipy.linalg.cho_solve(chol, y)


x = jnp.linspace(0.0, 3.0, 13)
y = jnp.sin(jnp.pi * x)
print(posterior_mean(x, y, jnp.array([4.5, 5.0])).round(1).tolist())
