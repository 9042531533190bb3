import jax
import jax.numpy as jnp


@jax.jit
def collatz_steps(n):
    def unfinished(state):
        return state[0] != 1

    def body(state):
        n, steps = state
        return jnp.where(n % 2 == 0, n // 2, 3 * n + 1), steps + 1

    return jax.lax.while_loop(unfinished, body, (n, jnp.zeros_like(n)))[1]


numbers = jnp.arange(1, 12)
steps = jax.vmap(collatz_steps)(numbers)
print(steps.tolist(), steps.dtype.name)
