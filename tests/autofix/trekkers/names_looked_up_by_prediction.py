# error: ConcretizationTypeError
# line: 16
# depends: probabilities
# fix: any
# result: 9.0

import jax
import jax.numpy as jnp

prices = [1.5, 2.25, 0.75]


@jax.jit
def expected_cost(probabilities, quantity):
    best = jnp.argmax(probabilities)
    price = prices[int(best)]
    return quantity * price


print(float(expected_cost(jnp.array([0.1, 0.7, 0.2]), 4.0)))
