# One correct fixed version of key_type_annotation.py
"""Gibbs sampling of an Ising model on a torus, checkerboard updates."""
import jax
import jax.numpy as jnp


def neighbours(spins: jax.Array) -> jax.Array:
    return (jnp.roll(spins, 1, 0) + jnp.roll(spins, -1, 0)
            + jnp.roll(spins, 1, 1) + jnp.roll(spins, -1, 1))


def half_sweep(key: jax.Array, spins: jax.Array, beta: float, colour: int) -> jax.Array:
    rows, cols = jnp.indices(spins.shape)
    active = (rows + cols) % 2 == colour
    p_up = jax.nn.sigmoid(2.0 * beta * neighbours(spins))
    proposal = jnp.where(jax.random.uniform(key, spins.shape) < p_up, 1.0, -1.0)
    return jnp.where(active, proposal, spins)


@jax.jit
def sweep(key, spins, beta):
    k0, k1 = jax.random.split(key)
    spins = half_sweep(k0, spins, beta, 0)
    return half_sweep(k1, spins, beta, 1)


def magnetisation(seed, beta, sweeps=150, size=12):
    spins = jnp.ones((size, size))
    total = []
    for key in jax.random.split(jax.random.key(seed), sweeps):
        spins = sweep(key, spins, beta)
        total.append(jnp.abs(spins.mean()))
    return jnp.stack(total[50:]).mean()


cold, hot = magnetisation(0, 0.7), magnetisation(1, 0.1)
print("ordered", bool(cold > 0.9), "disordered", bool(hot < 0.3))
