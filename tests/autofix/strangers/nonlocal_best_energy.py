# error: UnexpectedTracerError
# line: 27
# also-line: 31
# depends: x, t
# fix: carry_value
# trap: the last energy instead of the smallest; in this run the last one is the smallest
# probe: float(anneal(jnp.array(2.0), jnp.array([0.0, 0.0, 30.0]))) < 0.5
# fixed-file: fixed/nonlocal_best_energy.py
# result: -0.0095
# family: 1/nonlocal-running-minimum

import jax
import jax.numpy as jnp


def energy(x):
    return (x - 0.5) ** 2 + 0.1 * jnp.cos(3.0 * x)


@jax.jit
def anneal(start, kicks):
    best = jnp.inf

    def step(x, t):
        nonlocal best
        x = x - 0.4 * (x - 0.5) + 0.05 * t
        best = jnp.minimum(best, energy(x))
        return x, None

    jax.lax.scan(step, start, kicks)
    return best


kicks = jnp.array([0.3, 0.2, 0.1, 0.05])
print(round(float(anneal(jnp.array(2.0), kicks)), 4))
