import jax
import jax.numpy as jnp


@jax.tree_util.register_pytree_node_class
class Linear:
    def __init__(self, w, b, activation):
        self.w, self.b, self.activation = w, b, activation

    @jax.jit
    def __call__(self, x):
        return self.activation(x @ self.w + self.b)

    def tree_flatten(self):
        return (self.w, self.b), self.activation

    @classmethod
    def tree_unflatten(cls, activation, children):
        return cls(*children, activation)


model = Linear(jnp.eye(2) * 0.5, jnp.array([0.1, -0.1]), jnp.tanh)
x = jnp.array([[1.0, 2.0], [0.0, -1.0]])
grads = jax.grad(lambda m: m(x).sum())(model)
model = jax.tree.map(lambda p, g: p - 0.1 * g, model, grads)
print(model(x).shape, round(float(grads.b.sum()), 4))
