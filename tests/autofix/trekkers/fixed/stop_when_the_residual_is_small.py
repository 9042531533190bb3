import jax
import jax.numpy as jnp


@jax.jit
def solve(a, b):
    def unfinished(x):
        return jnp.any(jnp.abs(a @ x - b) > 1e-4)

    def sweep(x):
        return (b - (a @ x - jnp.diag(a) * x)) / jnp.diag(a)

    return jax.lax.while_loop(unfinished, sweep, jnp.zeros_like(b))


a = jnp.array([[4.0, 1.0], [2.0, 5.0]])
print(solve(a, jnp.array([1.0, 2.0])).round(3).tolist())
