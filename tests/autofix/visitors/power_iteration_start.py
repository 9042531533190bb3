# error: TypeError
# line: 20
# also-line: 25, 26
# depends: -
# fix: carry_value
# fixed-file: fixed/power_iteration_start.py
# result: 4.618
# family: carry/dtype-of-while

import jax
import jax.numpy as jnp


@jax.jit
def largest_eigenvalue(A):
    def improve(state):
        v, _, change = state
        w = A @ v
        w = w / jnp.linalg.norm(w)
        return w, w @ A @ w, jnp.max(jnp.abs(w - v))

    def changing(state):
        return state[2] > 1e-6

    start = (jnp.arange(1, len(A) + 1), 0.0, 1.0)
    return jax.lax.while_loop(changing, improve, start)[1]


print(round(float(largest_eigenvalue(jnp.array([[4.0, 1.0], [1.0, 3.0]]))), 4))
