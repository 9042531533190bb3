# error: ConcretizationTypeError
# line: 23
# depends: n_steps
# fix: static_args
# fixed-file: fixed/conc_scan_length.py
# result: (30, 2) 1.0

import jax
import jax.numpy as jnp

DT = 0.1


@jax.jit
def orbit(position, velocity, n_steps):
    def leapfrog(state, _):
        q, v = state
        v = v - 0.5 * DT * q
        q = q + DT * v
        v = v - 0.5 * DT * q
        return (q, v), q

    state, path = jax.lax.scan(leapfrog, (position, velocity), None, length=n_steps)
    return state, path


(q, v), path = orbit(jnp.array([1.0, 0.0]), jnp.array([0.0, 1.0]), 30)
print(path.shape, round(float(0.5 * (q @ q + v @ v)), 4))
