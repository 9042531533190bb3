# error: UnexpectedTracerError
# line: 20
# also-line: 28, 29
# depends: -
# fix: return_value
# fixed-file: fixed/activations_kept_on_model.py
# result: 0.2509 0.8854
# family: 3/leak

import jax
import jax.numpy as jnp


class Encoder:
    def __init__(self):
        self.hidden = None

    def __call__(self, w, x):
        h = jnp.tanh(x @ w)
        self.hidden = h
        return h.mean()


encoder = Encoder()
w = jnp.array([[0.5, -0.2], [0.1, 0.8]])
x = jnp.array([[1.0, 2.0], [0.0, -1.0]])
grads = jax.grad(encoder)(w, x)
saturation = jnp.abs(encoder.hidden).max()
print(round(float(grads.sum()), 4), round(float(saturation), 4))
