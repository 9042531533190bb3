import jax
import jax.numpy as jnp


@jax.jit
def spread(matrix, times):
    def square(_, matrix):
        matrix = matrix @ matrix
        return matrix / matrix.sum(axis=0)

    return jax.lax.fori_loop(0, times, square, matrix)


links = jnp.array([[0.5, 0.2, 0.1], [0.3, 0.6, 0.0], [0.2, 0.2, 0.9]])
for times in (1, 4):
    print(spread(links, times).round(3).tolist())
