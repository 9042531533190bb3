# error: UnexpectedTracerError
# line: 23
# also-line: 31
# depends: grads
# fix: return_value
# fixed-file: fixed/leak_optimizer_state_on_self.py
# result: [0.062, -0.031] 1.99

from functools import partial

import jax
import jax.numpy as jnp


class Momentum:
    def __init__(self, shape, lr=0.1, beta=0.9):
        self.lr = lr
        self.beta = beta
        self.velocity = jnp.zeros(shape)

    @partial(jax.jit, static_argnums=0)
    def update(self, params, grads):
        self.velocity = self.beta * self.velocity + grads
        return params - self.lr * self.velocity


opt = Momentum((2,))
params = jnp.array([1.0, -0.5])
for _ in range(3):
    params = opt.update(params, 2.0 * params)
print([round(float(p), 4) for p in params], round(float(jnp.sum(opt.velocity)), 4))
