# error: ValueError
# expect: ValueError | TypeError
# line: 19
# depends: -
# fix: array
# result: 138.6 (3,)

import jax
import jax.numpy as jnp

rates = [0.1, 0.2, 0.05]


def grow(capital, rate):
    capital = capital * (1 + rate)
    return capital, capital


final, path = jax.lax.scan(grow, 100.0, rates)
print(round(float(final), 3), path.shape)
