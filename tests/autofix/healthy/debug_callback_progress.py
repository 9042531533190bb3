import jax
import jax.numpy as jnp

seen = []


@jax.jit
def power_iteration(matrix, v):
    def body(i, v):
        w = matrix @ v
        norm = jnp.linalg.norm(w)
        jax.debug.callback(lambda n: seen.append(float(n)), norm)
        return w / norm

    v = jax.lax.fori_loop(0, 15, body, v)
    return v @ matrix @ v


matrix = jnp.array([[3.0, 1.0], [1.0, 2.0]])
top = power_iteration(matrix, jnp.array([1.0, 0.0]))
jax.effects_barrier()
print(len(seen), round(float(top), 3))
