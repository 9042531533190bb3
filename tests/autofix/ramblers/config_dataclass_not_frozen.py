# error: ValueError
# line: 26
# depends: config
# fix: any
# result: [0.3999999761581421, 1.0]

from dataclasses import dataclass
from functools import partial

import jax
import jax.numpy as jnp


@dataclass
class Config:
    factor: float = 2.0
    clip: bool = True


@partial(jax.jit, static_argnums=1)
def scale(x, config):
    y = x * config.factor
    return jnp.clip(y, 0.0, 1.0) if config.clip else y


y = scale(jnp.array([0.2, 0.9]), Config())
print(y.round(2).tolist())
