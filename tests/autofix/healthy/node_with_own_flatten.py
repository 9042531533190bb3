import jax
import jax.numpy as jnp


@jax.tree_util.register_pytree_node_class
class Gaussian:
    def __init__(self, mean, scale):
        self.mean, self.scale = mean, scale

    def tree_flatten(self):
        return (self.mean, self.scale), None

    @classmethod
    def tree_unflatten(cls, aux, children):
        new = object.__new__(cls)
        new.mean, new.scale = children
        return new

    def log_prob(self, x):
        z = (x - self.mean) / self.scale
        return -0.5 * z**2 - jnp.log(self.scale) - 0.5 * jnp.log(2.0 * jnp.pi)


@jax.jit
def fit(q, data):
    grads = jax.grad(lambda q: -q.log_prob(data).mean())(q)
    return jax.tree.map(lambda p, g: p - 0.1 * g, q, grads)


q = Gaussian(jnp.array(0.0), jnp.array(1.0))
data = jnp.array([1.0, 2.0, 3.0])
for _ in range(150):
    q = fit(q, data)
print(round(float(q.mean), 2), round(float(q.scale), 2))
