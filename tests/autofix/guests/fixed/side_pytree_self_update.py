# One correct fixed version of side_pytree_self_update.py
import jax
import jax.numpy as jnp


@jax.tree_util.register_pytree_node_class
class RunningMean:
    def __init__(self, mean, count):
        self.mean = mean
        self.count = count

    def tree_flatten(self):
        return (self.mean, self.count), None

    @classmethod
    def tree_unflatten(cls, _, children):
        return cls(*children)

    @jax.jit
    def update(self, value):
        count = self.count + 1
        return RunningMean(self.mean + (value - self.mean) / count, count)


stats = RunningMean(jnp.zeros(2), jnp.array(0))
for value in (jnp.array([1.0, 4.0]), jnp.array([3.0, 8.0]), jnp.array([5.0, 0.0])):
    stats = stats.update(value)
print(int(stats.count), stats.mean.tolist())
