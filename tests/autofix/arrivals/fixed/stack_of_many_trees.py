# One correct fixed version of stack_of_many_trees.py
import jax
import jax.numpy as jnp

episodes = [
    {"obs": jnp.arange(3.0) + i, "reward": jnp.array(float(i))} for i in range(4)
]
batch = jax.tree.map(lambda *xs: jnp.stack(xs), *episodes)
print(batch["obs"].shape, float(batch["reward"].sum()))
