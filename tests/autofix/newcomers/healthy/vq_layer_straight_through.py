import jax
import jax.numpy as jnp
from jax.lax import stop_gradient


def vector_quantize(z, codebook, beta=0.25):
    d = jnp.sum((z[:, None] - codebook[None]) ** 2, axis=-1)
    q = codebook[jnp.argmin(d, axis=1)]
    loss = jnp.mean((stop_gradient(z) - q) ** 2) + beta * jnp.mean((z - stop_gradient(q)) ** 2)
    return z + stop_gradient(q - z), loss


def objective(codebook, z):
    out, aux = vector_quantize(z, codebook)
    return jnp.mean(out**2) + aux


codebook = jnp.array([[1.0, 0.0], [0.0, 1.0]])
z = jnp.array([[0.8, 0.1], [0.2, 0.7], [0.9, -0.3]])
g_code, g_z = jax.grad(objective, argnums=(0, 1))(codebook, z)
print(bool(jnp.any(g_code != 0)), bool(jnp.all(jnp.isfinite(g_z))))
