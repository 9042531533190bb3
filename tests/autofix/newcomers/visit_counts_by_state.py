# error: TypeError
# line: 22
# depends: -
# fix: python_key
# result: 50 5

from collections import defaultdict

import jax
import jax.numpy as jnp


def walk(key, state, n_states=5):
    step = jax.random.choice(key, jnp.array([-1, 1]))
    return (state + step) % n_states


visits = defaultdict(int)
state = jnp.array(0)
for key in jax.random.split(jax.random.key(21), 50):
    state = walk(key, state)
    visits[state] += 1
print(sum(visits.values()), len(visits))
