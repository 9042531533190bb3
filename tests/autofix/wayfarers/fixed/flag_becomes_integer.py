# One correct fixed version of flag_becomes_integer.py
import jax
import jax.numpy as jnp

LIMIT = 1.5


def monitor(samples):
    def step(state, sample):
        level, tripped = state
        level = 0.9 * level + 0.1 * sample
        tripped = tripped | (level > LIMIT)
        return (level, tripped), level

    return jax.lax.scan(step, (0.0, False), samples)


(level, tripped), levels = monitor(jnp.linspace(0, 4, 30))
print(round(float(level), 4), bool(tripped), levels.shape)
