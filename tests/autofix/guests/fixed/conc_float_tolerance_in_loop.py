# One correct fixed version of conc_float_tolerance_in_loop.py
import jax
import jax.numpy as jnp


@jax.jit
def conjugate_gradient(matrix, rhs, tolerance=1e-5):
    x = jnp.zeros_like(rhs)
    r = rhs - matrix @ x
    p, rr = r, r @ r
    def unfinished(state):
        return state[3] > tolerance**2

    def step(state):
        x, r, p, rr = state
        ap = matrix @ p
        alpha = rr / (p @ ap)
        x, r = x + alpha * p, r - alpha * ap
        new = r @ r
        return x, r, r + (new / rr) * p, new

    return jax.lax.while_loop(unfinished, step, (x, r, p, rr))[0]


matrix = jnp.array([[4.0, 1.0, 0.0], [1.0, 3.0, 1.0], [0.0, 1.0, 2.0]])
print([round(float(v), 4) for v in conjugate_gradient(matrix, jnp.array([1.0, 2.0, 3.0]))])
