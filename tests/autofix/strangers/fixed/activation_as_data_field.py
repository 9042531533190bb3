# One correct fixed version of activation_as_data_field.py
from collections.abc import Callable
from dataclasses import dataclass, field

import jax
import jax.numpy as jnp


@jax.tree_util.register_dataclass
@dataclass
class Layer:
    w: jax.Array
    b: jax.Array
    activation: Callable = field(metadata={"static": True})

    def __call__(self, x):
        return self.activation(x @ self.w + self.b)


@jax.jit
def forward(model, x):
    for layer in model:
        x = layer(x)
    return x.sum()


model = [Layer(jnp.ones((2, 3)), jnp.zeros(3), jnp.tanh), Layer(jnp.ones((3, 1)), jnp.ones(1), jnp.abs)]
print(round(float(forward(model, jnp.array([0.1, 0.3]))), 4))
