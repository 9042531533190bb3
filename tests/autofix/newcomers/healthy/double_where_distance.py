import jax
import jax.numpy as jnp


def pair_energy(positions):
    d = positions[:, None] - positions[None]
    off = ~jnp.eye(len(positions), dtype=bool)
    sq = jnp.where(off, jnp.sum(d**2, axis=-1), 1.0)
    inv6 = 1.0 / sq**3
    return 2.0 * jnp.sum(jnp.where(off, inv6**2 - inv6, 0.0))


forces = jax.grad(lambda p: -pair_energy(p))
positions = jnp.array([[0.0, 0.0], [1.1, 0.0], [0.0, 1.2]])
f = jax.jit(forces)(positions)
print(bool(jnp.isfinite(f).all()), bool(jnp.abs(f.sum(axis=0)).max() < 1e-3))
