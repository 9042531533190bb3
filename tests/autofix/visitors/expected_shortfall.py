# error: NonConcreteBooleanIndexError
# expect: NonConcreteBooleanIndexError | IndexError
# line: 19
# depends: weights, returns
# fix: where
# fixed-file: fixed/expected_shortfall.py
# result: 0.0132
# family: concretization/boolean-mask

import jax
import jax.numpy as jnp


@jax.jit
def expected_shortfall(weights, returns):
    """The mean loss in the worst tenth of all days."""
    portfolio = returns @ weights
    var = jnp.quantile(portfolio, 0.1)
    tail = portfolio[portfolio <= var]
    return -jnp.mean(tail)


days = jnp.arange(60.0)
returns = 0.02 * jnp.stack([jnp.sin(days), jnp.cos(1.7 * days), jnp.sin(0.3 * days + 1.0)], axis=1)
weights = jnp.array([0.5, 0.3, 0.2])
print(round(float(expected_shortfall(weights, returns)), 4))
