# One correct fixed version of side_print_in_scan.py
import jax
import jax.numpy as jnp

CAPACITY = 10.0


def reservoir_day(level, inflow):
    level = level + inflow - 0.2 * level
    jax.debug.print("level {}", level, ordered=True)
    spill = jnp.maximum(level - CAPACITY, 0.0)
    return level - spill, spill


def simulate(inflows):
    return jax.lax.scan(reservoir_day, 5.0, inflows)


level, spills = simulate(jnp.array([4.0, 8.0, 1.0]))
jax.effects_barrier()
print(round(float(level), 3), round(float(spills.sum()), 3))
