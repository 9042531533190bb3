# error: none
# expect: UnrolledLoopWarning
# jax-differs: jax silently unrolls the loop over time
# line: 21
# depends: -
# fix: fori_loop
# fixed-file: fixed/monte_carlo_steps_unrolled.py
# result: 98.46
# family: silent/unrolled-simulation

import jax
import jax.numpy as jnp

STEPS = 150


@jax.jit
def heston_mean(key):
    """Mean final price of 200 paths under stochastic variance."""
    s, v = jnp.full(200, 100.0), jnp.full(200, 0.04)
    for _ in range(STEPS):
        key, subkey = jax.random.split(key)
        z = jax.random.normal(subkey, (2, 200))
        s = s * jnp.exp(-0.5 * v / STEPS + jnp.sqrt(v / STEPS) * z[0])
        v = jnp.abs(v + (0.04 - v) / STEPS + 0.2 * jnp.sqrt(v / STEPS) * z[1])
    return s.mean()


print(round(float(heston_mean(jax.random.key(11))), 2))
