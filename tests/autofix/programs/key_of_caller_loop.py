# error: KeyReuseError
# line: 22
# also-line: 27
# depends: -
# fix: split_key
# result: (4, 3) (3, 2)
# grade: ran
"""Weights of a network, drawn layer by layer."""
from dataclasses import dataclass

import jax
import jax.numpy as jnp

jax.config.update("jax_debug_key_reuse", True)


@dataclass
class Initialiser:
    scale: float

    def matrix(self, key, rows, columns):
        return self.scale * jax.random.normal(key, (rows, columns))

    def network(self, key, sizes):
        layers = []
        for rows, columns in zip(sizes[:-1], sizes[1:]):
            weight = self.matrix(key, rows, columns)
            layers.append({"w": weight, "b": jnp.zeros(columns)})
        return layers


@jax.jit
def start(seed):
    key = jax.random.key(seed)
    return Initialiser(0.1).network(key, (4, 3, 2))


print(*[layer["w"].shape for layer in start(0)])
