# error: TypeError
# line: 18
# depends: -
# fix: any
# result: [100.0, 79.30000305175781, 58.70000076293945, 38.10000228881836] ; 60.0

import jax
import jax.numpy as jnp

N = 32
ALPHA = 0.4
T_LEFT, T_RIGHT = 100.0, 20.0


def step(i, u):
    lap = u[:-2] - 2 * u[1:-1] + u[2:]
    u = u.at[1:-1].add(ALPHA * lap)
    u[0] = T_LEFT
    return u.at[-1].set(T_RIGHT)


@jax.jit
def simulate(u0):
    return jax.lax.fori_loop(0, 2000, step, u0)


u0 = jnp.full(N, 20.0)
u = simulate(u0)
print(u[::8].round(1).tolist())
print(round(float(u.mean()), 1))
