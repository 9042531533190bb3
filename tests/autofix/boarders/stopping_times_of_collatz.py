# error: TracerBoolConversionError
# line: 13
# depends: n
# fix: any
# result: [0, 1, 7, 2, 5, 8, 16, 3, 19, 6, 14, 9] 9

import jax
import jax.numpy as jnp


def stopping_time(n):
    steps = 0
    while n != 1:
        if n % 2 == 0:
            n = n // 2
        else:
            n = 3 * n + 1
        steps += 1
    return steps


numbers = jnp.arange(1, 13)
times = jax.jit(jax.vmap(stopping_time))(numbers)
longest = int(numbers[jnp.argmax(times)])
print(times.tolist(), longest)
