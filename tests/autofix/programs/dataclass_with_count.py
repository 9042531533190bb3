# error: TypeError
# line: 41
# depends: opt
# fix: pytree_register
# result: [0.1575, -0.3149]

"""An optimizer whose fields are arrays, numbers of steps and texts."""
from dataclasses import dataclass
from functools import partial

import jax
import jax.numpy as jnp


@dataclass
class Momentum:
    velocity: jax.Array
    beta: float
    steps: int
    kind: str = "plain"


def advance(opt, params, grads, *, lr):
    v = opt.velocity
    for _ in range(opt.steps):
        v = opt.beta * v + grads["w"]
    if opt.kind == "nesterov":
        v = v * 2.0
    return {"w": params["w"] - lr * v}, v


step = jax.jit(partial(advance, lr=0.1))


class Trainer:
    def __init__(self, opt):
        self.opt = opt

    def fit(self, params, n):
        for _ in range(n):
            params, v = step(self.opt, params, params)
            self.opt.velocity = v
        return params


out = Trainer(Momentum(jnp.zeros(2), 0.9, 2)).fit({"w": jnp.array([1.0, -2.0])}, 3)
print([round(float(v), 4) for v in out["w"]])
