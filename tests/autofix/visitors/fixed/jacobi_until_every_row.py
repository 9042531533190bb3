# One correct fixed version of jacobi_until_every_row.py
import jax
import jax.numpy as jnp

A = jnp.array([[4.0, -1.0, 0.0], [-1.0, 4.0, -1.0], [0.0, -1.0, 4.0]])
b = jnp.array([2.0, 4.0, 10.0])


@jax.jit
def jacobi(x):
    diagonal = jnp.diag(A)

    def sweep(x):
        return (b - (A @ x - diagonal * x)) / diagonal

    def unfinished(x):
        return jnp.any(jnp.abs(A @ x - b) > 1e-4)

    return jax.lax.while_loop(unfinished, sweep, x)


print([round(float(v), 3) for v in jacobi(jnp.zeros(3))])
