# One correct fixed version of sweeps_without_effect.py
import jax
import jax.numpy as jnp


@jax.jit
def equilibrate(spins, key, sweeps):
    """Heat-bath updates of a ring of spins."""

    def update(k, spins):
        site = k % spins.shape[0]
        field = spins[site - 1] + spins[(site + 1) % spins.shape[0]]
        up = jax.random.uniform(jax.random.fold_in(key, k)) < jax.nn.sigmoid(4.0 * field)
        return spins.at[site].set(jnp.where(up, 1.0, -1.0))

    spins = jax.lax.fori_loop(0, sweeps * spins.shape[0], update, spins)
    return jnp.mean(spins * jnp.roll(spins, 1))


alternating = jnp.where(jnp.arange(64) % 2 == 0, 1.0, -1.0)
print(bool(equilibrate(alternating, jax.random.key(6), 50) > 0.7))
