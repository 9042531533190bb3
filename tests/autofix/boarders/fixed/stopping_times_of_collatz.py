import jax
import jax.numpy as jnp


def stopping_time(n):
    def step(state):
        n, steps = state
        return jnp.where(n % 2 == 0, n // 2, 3 * n + 1), steps + 1

    return jax.lax.while_loop(lambda s: s[0] != 1, step, (n, 0))[1]


numbers = jnp.arange(1, 13)
times = jax.jit(jax.vmap(stopping_time))(numbers)
longest = int(numbers[jnp.argmax(times)])
print(times.tolist(), longest)
