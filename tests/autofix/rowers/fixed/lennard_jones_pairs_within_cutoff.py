import jax
import jax.numpy as jnp
import numpy as np

BOX = 6.0
CUTOFF = 2.5
grid = np.stack(np.meshgrid(*[np.arange(3) * 2.0] * 2), -1).reshape(-1, 2)
positions = jnp.asarray(grid + 0.2 * np.sin(np.arange(18)).reshape(9, 2), dtype=jnp.float32)
I, J = np.triu_indices(len(positions), k=1)


def energy(positions):
    d = positions[I] - positions[J]
    d = d - BOX * jnp.round(d / BOX)
    r2 = jnp.sum(d**2, axis=-1)
    s6 = 1.0 / r2**3
    return jnp.sum(jnp.where(r2 < CUTOFF**2, 4.0 * (s6**2 - s6), 0.0))


@jax.jit
def verlet(carry, _):
    x, v, f = carry
    v = v + 0.5 * 0.005 * f
    x = x + 0.005 * v
    f = -jax.grad(energy)(x)
    v = v + 0.5 * 0.005 * f
    return (x, v, f), energy(x) + 0.5 * jnp.sum(v**2)


start = (positions, jnp.zeros_like(positions), jnp.zeros_like(positions))
_, energies = jax.lax.scan(verlet, start, None, length=50)
print(round(float(energies[0]), 2), round(float(energies[-1]), 1))
