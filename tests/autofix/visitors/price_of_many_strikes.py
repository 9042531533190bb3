# error: ValueError
# line: 23
# depends: -
# fix: in_axes
# fixed-file: fixed/price_of_many_strikes.py
# result: [0.0, 0.329, 4.76]
# family: in_axes/scalar-argument

import jax
import jax.numpy as jnp


def put_payoff(path, strike, rate):
    """Discounted payoff of an Asian put."""
    return jnp.exp(-rate) * jnp.maximum(strike - path.mean(), 0.0)


paths = 100.0 + 5.0 * jnp.sin(jnp.arange(40.0).reshape(8, 5))
strikes = jnp.array([95.0, 100.0, 105.0])

over_paths = jax.vmap(put_payoff)
over_strikes = jax.vmap(
    lambda strike: over_paths(paths, strike, 0.02).mean()
)
print([round(float(p), 3) for p in over_strikes(strikes)])
