# error: none
# expect: SideEffectWarning
# jax-differs: jax silently prints a tracer once, not each level
# line: 18
# depends: level, inflow
# fix: debug_print
# fixed-file: fixed/side_print_in_scan.py
# result: level 8.0 ; level 14.399999618530273 ; level 9.0 ; 9.0 4.4

import jax
import jax.numpy as jnp

CAPACITY = 10.0


def reservoir_day(level, inflow):
    level = level + inflow - 0.2 * level
    print("level", level)
    spill = jnp.maximum(level - CAPACITY, 0.0)
    return level - spill, spill


def simulate(inflows):
    return jax.lax.scan(reservoir_day, 5.0, inflows)


level, spills = simulate(jnp.array([4.0, 8.0, 1.0]))
print(round(float(level), 3), round(float(spills.sum()), 3))
