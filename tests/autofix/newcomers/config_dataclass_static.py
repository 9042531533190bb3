# error: ValueError
# expect: ValueError | TypeError
# line: 38
# depends: -
# fix: hashable_static
# result: (5, 2)

from dataclasses import dataclass, field
from functools import partial

import jax
import jax.numpy as jnp


@dataclass
class Config:
    widths: tuple = (4, 4)
    activation: str = "tanh"
    scale: float = field(default=0.1)


def init(cfg, n_in, key):
    sizes = (n_in, *cfg.widths)
    keys = jax.random.split(key, len(cfg.widths))
    return [cfg.scale * jax.random.normal(k, s) for k, s in zip(keys, zip(sizes, sizes[1:]))]


@partial(jax.jit, static_argnames="cfg")
def apply(params, x, *, cfg):
    act = getattr(jnp, cfg.activation)
    for w in params:
        x = act(x @ w)
    return x


cfg = Config(widths=(8, 2))
params = init(cfg, 3, jax.random.key(0))
print(apply(params, jnp.ones((5, 3)), cfg=cfg).shape)
