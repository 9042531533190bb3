# One correct fixed version of export_wrong_dtype.py
"""Export a scoring function and call it from a "server"."""
import jax
import jax.numpy as jnp
from jax import export


def score(weights, features):
    centred = features - features.mean(axis=1, keepdims=True)
    return jax.nn.sigmoid(centred @ weights)


def build():
    b, = export.symbolic_shape("b")
    specs = (
        jax.ShapeDtypeStruct((4,), jnp.float32),
        jax.ShapeDtypeStruct((b, 4), jnp.float32),
    )
    return export.export(jax.jit(score))(*specs)


class Server:
    def __init__(self, exported, weights):
        self.fn = exported
        self.weights = weights

    def handle(self, rows):
        features = jnp.asarray(rows, dtype=jnp.float32)
        return [round(float(v), 4) for v in self.fn.call(self.weights, features)]


server = Server(build(), jnp.array([0.5, -0.25, 0.1, 0.0]))
print(server.handle([[1.5, 2.0, 3.0, 4.0]]))
print(server.handle([[1, 0, 2, 5], [3, 3, 3, 3]]))
