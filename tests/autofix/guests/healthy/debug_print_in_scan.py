import jax
import jax.numpy as jnp


def step(level, inflow):
    level = 0.5 * level + inflow
    jax.debug.print("level {level:.2f}", level=level, ordered=True)
    return level, level


print("tracing is over when this is printed once")
final, levels = jax.lax.scan(step, 1.0, jnp.array([1.0, 2.0]))
jax.effects_barrier()
print(float(final), levels.tolist())
