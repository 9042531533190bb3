"""Strategies of evosax: CMA-ES, differential evolution, OpenAI's and a particle swarm on a sphere."""

import json

import jax
import jax.numpy as jnp
from evosax.algorithms import CMA_ES, PSO, DifferentialEvolution, Open_ES


def fitness(x):
    return jnp.sum((x - 0.5) ** 2, axis=-1)


found = {}
start = jnp.array([1.0, -1.0, 2.0])
for kind in (CMA_ES, Open_ES):
    strategy = kind(population_size=16, solution=start)
    params = strategy.default_params
    state = strategy.init(jax.random.key(0), start, params)

    @jax.jit
    def step(state, key, strategy=strategy, params=params):
        population, state = strategy.ask(key, state, params)
        state, _ = strategy.tell(key, population, fitness(population), state, params)
        return state, state.best_fitness

    state, best = jax.lax.scan(step, state, jax.random.split(jax.random.key(1), 15))
    found[kind.__name__] = [*strategy.get_mean(state).tolist(), float(best[0])]
for kind in (DifferentialEvolution, PSO):
    strategy = kind(population_size=16, solution=start)
    params = strategy.default_params
    population = start + jax.random.normal(jax.random.key(2), (16, 3))
    state = strategy.init(jax.random.key(0), population, fitness(population), params)
    for i in range(5):
        population, state = strategy.ask(jax.random.key(i), state, params)
        state, _ = strategy.tell(jax.random.key(i), population, fitness(population), state, params)
    found[kind.__name__] = [float(state.best_fitness)]
print(json.dumps(found))
