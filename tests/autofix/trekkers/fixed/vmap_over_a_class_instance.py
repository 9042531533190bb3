import jax
import jax.numpy as jnp


class Linear:
    def __init__(self, w):
        self.w = w

    def __call__(self, x):
        return jnp.dot(self.w, x)


def score(model, x):
    return jax.nn.sigmoid(model(x))


model = Linear(jnp.array([1.0, -1.0]))
xs = jnp.array([[1.0, 0.0], [0.0, 1.0]])
scores = jax.vmap(lambda x: score(model, x))(xs)
print(scores.round(3).tolist())
