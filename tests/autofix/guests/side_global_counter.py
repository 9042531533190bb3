# error: none
# expect: SideEffectWarning | StaleValueWarning
# jax-differs: jax silently counts only the calls that trace
# line: 19
# depends: -
# fix: move_out_of_jit
# fixed-file: fixed/side_global_counter.py
# result: 5 2.0

import jax
import jax.numpy as jnp

evaluations = 0


@jax.jit
def rastrigin(x):
    global evaluations
    evaluations += 1
    return 10.0 * x.shape[0] + jnp.sum(x**2 - 10.0 * jnp.cos(2.0 * jnp.pi * x))


def pattern_search(x, step):
    best = rastrigin(x)
    for axis in range(x.shape[0]):
        for sign in (-1.0, 1.0):
            trial = x.at[axis].add(sign * step)
            value = rastrigin(trial)
            if value < best:
                x, best = trial, value
    return x, best


x, best = pattern_search(jnp.array([1.5, -0.5]), 0.5)
print(evaluations, round(float(best), 3))
