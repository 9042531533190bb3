# One correct fixed version of recompile_partial_in_loop.py
import jax
import jax.numpy as jnp


def proximal_step(x, matrix, target, rate):
    x = x - rate * matrix.T @ (matrix @ x - target)
    return jnp.sign(x) * jnp.maximum(jnp.abs(x) - 0.1 * rate, 0.0)


matrix = jnp.array([[1.0, 0.5, 0.0], [0.0, 1.0, 0.5]])
target = jnp.array([1.0, 0.6])
x = jnp.zeros(3)
step = jax.jit(proximal_step)
for k in range(12):
    x = step(x, matrix, target, 0.3 / (1 + 0.1 * k))
print([round(float(v), 4) for v in x])
