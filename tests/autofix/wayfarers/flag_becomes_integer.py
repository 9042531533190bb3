# error: TypeError
# line: 19
# also-line: 21
# depends: state, sample
# fix: carry_dtype
# result: 2.8171 True (30,)

import jax
import jax.numpy as jnp

LIMIT = 1.5


def monitor(samples):
    def step(state, sample):
        level, tripped = state
        level = 0.9 * level + 0.1 * sample
        tripped = tripped + jnp.where(level > LIMIT, 1, 0)
        return (level, tripped), level

    return jax.lax.scan(step, (0.0, False), samples)


(level, tripped), levels = monitor(jnp.linspace(0, 4, 30))
print(round(float(level), 4), bool(tripped), levels.shape)
