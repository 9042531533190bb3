import jax
import jax.numpy as jnp

momentum = 0.9
batches = jnp.arange(48, dtype=jnp.float32).reshape(4, 4, 3) % 7.0


@jax.jit
def batch_norm(x, stats, gamma, beta):
    mean = jnp.mean(x, axis=0)
    var = jnp.var(x, axis=0)
    stats = stats.at[0].set(momentum * stats[0] + (1.0 - momentum) * mean)
    stats = stats.at[1].multiply(momentum)
    stats = stats.at[1].add((1.0 - momentum) * var)
    y = gamma * (x - mean) / jnp.sqrt(var + 1e-5) + beta
    return y, stats


stats = jnp.stack([jnp.zeros(3), jnp.ones(3)])
gamma, beta = jnp.full(3, 2.0), jnp.full(3, 0.5)
for x in batches:
    y, stats = batch_norm(x, stats, gamma, beta)
print([round(float(s), 3) for s in stats[0]])
print([round(float(s), 3) for s in stats[1]])
print(round(float(jnp.abs(y).mean()), 3))
