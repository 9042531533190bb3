import jax
import jax.numpy as jnp

N = 16
BLACK = (jnp.arange(N)[:, None] + jnp.arange(N)) % 2 == 0


def half_sweep(key, spins, mask, beta):
    field = sum(jnp.roll(spins, s, a) for s in (1, -1) for a in (0, 1))
    up = jax.nn.sigmoid(2.0 * beta * field)
    new = jnp.where(jax.random.uniform(key, spins.shape) < up, 1, -1)
    return jnp.where(mask, new, spins)


@jax.jit
def sample(key, spins, beta):
    def sweep(spins, key):
        first, second = jax.random.split(key)
        spins = half_sweep(first, spins, BLACK, beta)
        spins = half_sweep(second, spins, ~BLACK, beta)
        return spins, jnp.abs(spins.mean())

    return jax.lax.scan(sweep, spins, jax.random.split(key, 200))


spins = jnp.ones((N, N), dtype=jnp.int32)
cold, hot = jax.random.split(jax.random.key(0))
_, ordered = sample(cold, spins, 0.8)
_, disordered = sample(hot, spins, 0.1)
print(bool(ordered[-50:].mean() > 0.8), bool(disordered[-50:].mean() < 0.3))
