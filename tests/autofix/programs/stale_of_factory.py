# error: none
# expect: StaleValueWarning
# line: 19
# depends: -
# fix: pass_argument
# result: 1.7508

import jax
import jax.numpy as jnp


class Clock:
    now = 0.0


def make_step(clock):
    @jax.jit
    def step(x):
        return x + jnp.sin(clock.now)

    return step


clock = Clock()
step = make_step(clock)
x = jnp.array(0.0)
for _ in range(3):
    x = step(x)
    clock.now += 1.0
print(round(float(x), 4))
