# error: TypeError
# line: 26
# depends: -
# fix: any
# result: 8.7 ; 0.5

import jax
import jax.numpy as jnp

PATHS = 20_000


def call_price(spot, strike, rate, vol, maturity, key):
    z = jax.random.normal(key, (PATHS,))
    z = jnp.concatenate([z, -z])
    drift = (rate - 0.5 * vol**2) * maturity
    terminal = spot * jnp.exp(drift + vol * jnp.sqrt(maturity) * z)
    payoff = jnp.maximum(terminal - strike, 0.0)
    return jnp.exp(-rate * maturity) * payoff.mean()


delta = jax.jit(jax.grad(call_price))
key = jax.random.key(11)
price = call_price(100, 105, 0.02, 0.25, 1.0, key)
print(round(float(price), 1))
print(round(float(delta(100, 105, 0.02, 0.25, 1.0, key)), 2))
