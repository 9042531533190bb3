import jax
import jax.numpy as jnp


def fitness(x):
    return -jnp.sum((x - jnp.array([1.0, -2.0, 0.5])) ** 2)


@jax.jit
def generation(state, key):
    mean, scale = state
    noise = jax.random.normal(key, (32, mean.shape[0]))
    scores = jax.vmap(fitness)(mean + scale * noise)
    ranks = jnp.argsort(jnp.argsort(scores)) / 31.0 - 0.5
    mean = mean + 0.5 * scale * (ranks @ noise) / 8.0
    return (mean, 0.99 * scale), scores.max()


state = (jnp.zeros(3), jnp.array(0.5))
state, best = jax.lax.scan(generation, state, jax.random.split(jax.random.key(0), 150))
print(bool(jnp.abs(fitness(state[0])) < 0.2), bool(best[-1] > best[0]))
