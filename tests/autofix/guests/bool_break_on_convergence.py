# error: TracerBoolConversionError
# line: 17
# depends: transition
# fix: while_loop
# fixed-file: fixed/bool_break_on_convergence.py
# result: [0.5647, 0.2588, 0.1765]

import jax
import jax.numpy as jnp


@jax.jit
def stationary(transition):
    pi = jnp.full(transition.shape[0], 1.0 / transition.shape[0])
    for _ in range(60):
        new = pi @ transition
        if jnp.allclose(new, pi, atol=1e-7):
            break
        pi = new
    return pi


weather = jnp.array([
    [0.8, 0.15, 0.05],
    [0.3, 0.4, 0.3],
    [0.2, 0.4, 0.4],
])
print([round(float(p), 4) for p in stationary(weather)])
