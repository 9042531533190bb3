# error: ConcretizationTypeError
# line: 17
# depends: matrix, rhs
# fix: while_loop
# fixed-file: fixed/conc_float_tolerance_in_loop.py
# result: [0.2222, 0.1111, 1.4444]

import jax
import jax.numpy as jnp


@jax.jit
def conjugate_gradient(matrix, rhs, tolerance=1e-5):
    x = jnp.zeros_like(rhs)
    r = rhs - matrix @ x
    p, rr = r, r @ r
    while float(rr) > tolerance**2:
        ap = matrix @ p
        alpha = rr / (p @ ap)
        x, r = x + alpha * p, r - alpha * ap
        new = r @ r
        p, rr = r + (new / rr) * p, new
    return x


matrix = jnp.array([[4.0, 1.0, 0.0], [1.0, 3.0, 1.0], [0.0, 1.0, 2.0]])
print([round(float(v), 4) for v in conjugate_gradient(matrix, jnp.array([1.0, 2.0, 3.0]))])
