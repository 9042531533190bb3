# error: TracerBoolConversionError
# line: 18
# depends: propensities, u
# fix: argmax
# result: [0, 1, 2, 3]

import jax
import jax.numpy as jnp
import numpy as np

RATES = np.array([0.4, 1.1, 0.2, 0.8])


def which_reaction(propensities, u):
    """Gillespie: the first reaction whose cumulated propensity exceeds u * total"""
    cumulated = jnp.cumsum(propensities)
    threshold = u * cumulated[-1]
    return next(i for i in range(len(RATES)) if cumulated[i] > threshold)


@jax.jit
def choose_many(counts, us):
    propensities = RATES * counts
    return jax.vmap(which_reaction, in_axes=(None, 0))(propensities, us)


us = jnp.array([0.05, 0.35, 0.71, 0.99])
chosen = choose_many(jnp.array([3.0, 2.0, 5.0, 1.0]), us)
print(chosen.tolist())
