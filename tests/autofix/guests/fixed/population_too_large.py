# One correct fixed version of population_too_large.py
import jax
import jax.numpy as jnp

WORLD = 8_100_000_000


@jax.jit
def logistic_year(population, growth, capacity):
    return population + growth * population * (1.0 - population / capacity)


population = jnp.asarray(float(WORLD))
for _ in range(10):
    population = logistic_year(population, 0.01, 1.1e10)
print(round(float(population) / 1e9, 3))
