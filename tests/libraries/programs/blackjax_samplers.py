"""Markov chains of blackjax: NUTS, Hamiltonian and Langevin."""

import json

import blackjax
import jax
import jax.numpy as jnp


def log_density(x):
    return -0.5 * jnp.sum((x["a"] - 1.0) ** 2) - 0.5 * jnp.sum(x["b"] ** 2 / 4)


def chain(kernel, steps):
    def step(state, key):
        state, _ = kernel.step(key, state)
        return state, state.position

    start = kernel.init({"a": jnp.zeros(2), "b": jnp.ones(3)})
    positions = jax.lax.scan(step, start, jax.random.split(jax.random.key(1), steps))[1]
    return jnp.concatenate([positions["a"], positions["b"]], 1).tolist()


print(
    json.dumps(
        {
            "nuts": chain(blackjax.nuts(log_density, 0.3, jnp.ones(5)), 20),
            "hmc": chain(blackjax.hmc(log_density, 0.1, jnp.ones(5), 5), 20),
            "mala": chain(blackjax.mala(log_density, 0.1), 20),
        }
    )
)
