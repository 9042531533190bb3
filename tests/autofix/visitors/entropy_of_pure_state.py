# error: none
# expect: NaNWarning
# jax-differs: jax silently multiplies zero by infinity
# line: 19
# depends: density
# fix: guard_log
# fixed-file: fixed/entropy_of_pure_state.py
# result: 1.0 ; 0.8113 ; 0.0
# family: silent/nan-forward-xlogx

import jax
import jax.numpy as jnp


@jax.jit
def von_neumann(density):
    """Entropy of a two-level system."""
    p = jnp.clip(jnp.linalg.eigvalsh(density), 0.0, 1.0)
    return -jnp.sum(p * jnp.log2(p))


mixed = jnp.diag(jnp.array([0.5, 0.5]))
pure = jnp.diag(jnp.array([1.0, 0.0]))
for weight in (1.0, 0.5, 0.0):
    print(round(abs(float(von_neumann(weight * mixed + (1.0 - weight) * pure))), 4))
