from typing import NamedTuple

import jax
import jax.numpy as jnp


class Contract(NamedTuple):
    spot: jax.Array
    strike: jax.Array
    vol: jax.Array
    expiry: jax.Array
    steps: jax.Array


MAX_STEPS = 24
RATE = 0.03


def price_american_put(contract):
    n = contract.steps
    dt = contract.expiry / n
    up = jnp.exp(contract.vol * jnp.sqrt(dt))
    prob = (jnp.exp(RATE * dt) - 1 / up) / (up - 1 / up)
    node = jnp.arange(MAX_STEPS + 1)

    def exercise(level):
        return jnp.maximum(contract.strike - contract.spot * up ** (2.0 * node - level), 0.0)

    value = exercise(n)

    def backward(back, value):
        hold = jnp.exp(-RATE * dt) * (prob * jnp.roll(value, -1) + (1 - prob) * value)
        return jnp.maximum(hold, exercise(n - back - 1))

    return jax.lax.fori_loop(0, n, backward, value)[0]


book = Contract(
    spot=jnp.array([100.0, 95.0, 110.0]),
    strike=jnp.array([100.0, 100.0, 105.0]),
    vol=jnp.array([0.2, 0.25, 0.3]),
    expiry=jnp.array([1.0, 0.5, 0.25]),
    steps=jnp.array([24, 12, 6]),
)
prices = jax.vmap(price_american_put)(book)
print([round(p, 2) for p in prices.tolist()])
