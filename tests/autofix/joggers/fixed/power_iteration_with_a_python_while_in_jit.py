import jax
import jax.numpy as jnp


@jax.jit
def largest_eigenvalue(matrix, tolerance):
    v = jnp.ones(matrix.shape[0]) / jnp.sqrt(matrix.shape[0])
    change = jnp.inf
    value = 0.0
    def unfinished(state):
        return state[1] > tolerance

    def iterate(state):
        v, _, value = state
        w = matrix @ v
        new_value = v @ w
        return w / jnp.linalg.norm(w), jnp.abs(new_value - value), new_value

    return jax.lax.while_loop(unfinished, iterate, (v, change, value))[2]


matrix = jnp.array([[4.0, 1.0, 0.5], [1.0, 3.0, 0.2], [0.5, 0.2, 1.0]])
print(round(float(largest_eigenvalue(matrix, 1e-4)), 2))
print(round(float(jnp.linalg.eigvalsh(matrix)[-1]), 2))
