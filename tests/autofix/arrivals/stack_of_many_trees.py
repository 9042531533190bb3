# error: TypeError
# expect: TypeError | ValueError
# line: 14
# depends: -
# fix: stack_trees
# result: (4, 3) 6.0

import jax
import jax.numpy as jnp

episodes = [
    {"obs": jnp.arange(3.0) + i, "reward": jnp.array(float(i))} for i in range(4)
]
batch = jax.tree.map(jnp.stack, episodes)
print(batch["obs"].shape, float(batch["reward"].sum()))
