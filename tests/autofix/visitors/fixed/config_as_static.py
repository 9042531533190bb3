# One correct fixed version of config_as_static.py
from dataclasses import dataclass
from functools import partial

import jax
import jax.numpy as jnp


@dataclass(frozen=True)
class Config:
    layers: int = 3
    slope: float = 0.1
    residual: bool = True


@partial(jax.jit, static_argnums=2)
def forward(w, x, config):
    for _ in range(config.layers):
        h = jax.nn.leaky_relu(w @ x, config.slope)
        x = x + h if config.residual else h
    return x


w = jnp.array([[0.5, -0.3], [0.2, 0.1]])
print([round(float(v), 4) for v in forward(w, jnp.array([1.0, -1.0]), Config(layers=2))])
