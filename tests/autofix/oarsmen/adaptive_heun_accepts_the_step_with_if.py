# error: TracerBoolConversionError
# line: 39
# depends: state
# fix: any
# result: [-1.6, 0.4] True

from typing import NamedTuple

import jax
import jax.numpy as jnp


class SolverState(NamedTuple):
    t: jax.Array
    y: jax.Array
    dt: jax.Array
    n_accepted: jax.Array


def vdp(t, y, mu=2.0):
    return jnp.array([y[1], mu * (1.0 - y[0] ** 2) * y[1] - y[0]])


def heun_euler(f, t, y, dt):
    k1 = f(t, y)
    k2 = f(t + dt, y + dt * k1)
    return y + 0.5 * dt * (k1 + k2), 0.5 * dt * jnp.abs(k2 - k1).max()


def odeint(f, y0, t1, tol=1e-3):
    def not_done(state):
        return state.t < t1

    def advance(state):
        dt = jnp.minimum(state.dt, t1 - state.t)
        y_new, err = heun_euler(f, state.t, state.y, dt)
        ratio = err / tol
        factor = jnp.clip(0.9 / jnp.sqrt(ratio + 1e-10), 0.2, 5.0)
        if ratio <= 1.0:
            return SolverState(state.t + dt, y_new, dt * factor, state.n_accepted + 1)
        return state._replace(dt=dt * factor)

    start = SolverState(jnp.float32(0.0), y0, jnp.float32(0.1), jnp.int32(0))
    return jax.lax.while_loop(not_done, advance, start)


final = jax.jit(odeint, static_argnums=0)(vdp, jnp.array([2.0, 0.0]), 5.0)
print([round(v, 1) for v in final.y.tolist()], bool(final.n_accepted > 50))
