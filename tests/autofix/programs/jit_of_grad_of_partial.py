# error: none
# expect: RecompilationWarning
# line: 24
# depends: -
# fix: hoist_jit
# result: [0.9251, 0.4878]

"""The gradient of a partial, jitted by each step."""
from functools import partial

import jax
import jax.numpy as jnp


def loss(w, lam, x):
    return jnp.sum((w * x - 1.0) ** 2) + lam * jnp.sum(w ** 2)


class Trainer:
    def __init__(self, lam):
        self.lam = lam

    def step(self, w, x):
        grad = jax.jit(jax.grad(partial(loss, lam=self.lam)))
        return w - 0.1 * grad(w, x=x)


trainer = Trainer(0.1)
w = jnp.ones(2)
for k in range(7):
    w = trainer.step(w, jnp.array([1.0, 2.0]))
print([round(float(v), 4) for v in w])
