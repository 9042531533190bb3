# error: TypeError
# expect: TypeError | ValueError
# line: 24
# also-line: 35
# depends: -
# fix: match_structure
# result: 2.332

import jax
import jax.numpy as jnp


@jax.tree_util.register_pytree_node_class
class Gaussian:
    def __init__(self, mean, scale):
        self.mean = mean
        self.scale = scale

    def log_prob(self, x):
        z = (x - self.mean) / self.scale
        return -0.5 * z**2 - jnp.log(self.scale) - 0.5 * jnp.log(2 * jnp.pi)

    def tree_flatten(self):
        return (self.mean, self.scale)

    @classmethod
    def tree_unflatten(cls, aux, children):
        return cls(*children)


data = jnp.array([1.0, 2.0, 4.0])
nll = lambda q: -q.log_prob(data).sum()
q = Gaussian(jnp.array(0.0), jnp.array(2.0))
for _ in range(50):
    g = jax.grad(nll)(q)
    q = jax.tree.map(lambda p, d: p - 0.1 * d, q, g)
print(round(float(q.mean), 3))
