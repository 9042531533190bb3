import jax
import jax.numpy as jnp

N = 6
cells = jnp.arange(N)


@jax.jit
def diffuse(u):
    def ring_laplacian(i):
        return u[i - 1] - 2.0 * u[i] + u[(i + 1) % N]

    return u + 0.2 * jax.vmap(ring_laplacian)(cells)


u = jnp.array([1.0, 0.0, 0.0, 0.0, 0.0, 3.0])
total = float(u.sum())
for _ in range(5):
    u = diffuse(u)
print(u.round(3).tolist())
print(round(total, 3), round(float(u.sum()), 3))
