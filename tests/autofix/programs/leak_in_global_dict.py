# error: UnexpectedTracerError
# line: 21
# depends: images
# fix: return_value
# result: 6.0 3.0

"""A layer that keeps its last activation in a dictionary of the module."""
import jax
import jax.numpy as jnp

ACTIVATIONS = {}


class Dense:
    def __init__(self, name, rows, columns):
        self.name = name
        self.weight = jnp.full((rows, columns), 0.5)

    def __call__(self, x):
        y = jax.nn.relu(x @ self.weight)
        ACTIVATIONS[self.name] = y
        return y


class Network:
    def __init__(self):
        self.layers = [Dense("first", 4, 3), Dense("last", 3, 1)]

    def __call__(self, x):
        for layer in self.layers:
            x = layer(x)
        return x


network = Network()


@jax.jit
def forward(images):
    return network(images).sum()


value = forward(jnp.ones((2, 4)))
print(float(value), float(jnp.mean(ACTIVATIONS["last"])))
