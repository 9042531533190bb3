# error: none
# expect: StaleValueWarning
# jax-differs: jax silently keeps the first learning rate
# line: 20
# also-line: 27, 28
# depends: -
# fix: pass_argument
# result: [2.5508, 2.7006]

import jax
import jax.numpy as jnp


class Trainer:
    def __init__(self, loss, lr):
        self.loss, self.lr = loss, lr

        @jax.jit
        def step(params):
            return params - self.lr * jax.grad(self.loss)(params)

        self.step = step

    def fit(self, params, epochs, per_epoch=5):
        for _ in range(epochs):
            for _ in range(per_epoch):
                params = self.step(params)
            self.lr *= 0.5
        return params


trainer = Trainer(lambda p: jnp.sum((p - 3.0) ** 2), lr=0.1)
params = trainer.fit(jnp.array([0.0, 1.0]), epochs=3)
print([round(p, 4) for p in params.tolist()])
