# One correct fixed version of old_clip_keywords.py
"""Evolution strategy on a noisy quadratic with box constraints."""
import jax
import jax.numpy as jnp

LOW, HIGH = -2.0, 2.0


def repair(population):
    return jnp.clip(population, LOW, HIGH)


def objective(x):
    return jnp.sum((x - jnp.array([0.5, -1.5, 3.0])) ** 2, axis=-1)


def ranks(values):
    order = jnp.argsort(values)
    return jnp.zeros_like(values).at[order].set(jnp.linspace(0.5, -0.5, values.size))


@jax.jit
def generation(key, mean, sigma):
    noise = jax.random.normal(key, (32, mean.size))
    noise = jnp.concatenate([noise, -noise])
    population = repair(mean + sigma * noise)
    fitness = objective(population)
    mean = repair(mean + 2.0 * (ranks(fitness) @ noise) / noise.shape[0])
    return mean, fitness.min()


mean = jnp.zeros(3)
for k in jax.random.split(jax.random.key(8), 80):
    mean, best = generation(k, mean, 0.3)
print([round(float(m)) for m in 2 * mean])
print("constrained best", bool(jnp.abs(best - 1.0) < 0.2))
