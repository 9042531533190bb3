# error: none
# expect: UnusedResultWarning | KeyReuseError
# jax-differs: jax silently draws the same noise in each round
# line: 23
# depends: -
# fix: assign_result
# fixed-file: fixed/split_on_its_own_line.py
# result: all rounds alike: False
# family: 2/result-thrown-away

import jax
import jax.numpy as jnp


def perturb(key, x):
    return x + 0.1 * jax.random.normal(key, x.shape)


key = jax.random.key(3)
x = jnp.zeros(4)
jumps = []
for _ in range(3):
    jax.random.split(key)
    new = perturb(key, x)
    jumps.append(new - x)
    x = new
same = jnp.allclose(jumps[0], jumps[1]) | jnp.allclose(jumps[1], jumps[2], atol=1e-6)
print("all rounds alike:", bool(same))
