# error: TypeError
# line: 25
# depends: model
# fix: any
# result: [0.7310000061988831, 0.26900002360343933]

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
scores = jax.vmap(score)(model, xs)
print(scores.round(3).tolist())
