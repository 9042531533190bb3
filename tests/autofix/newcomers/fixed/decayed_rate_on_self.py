import jax
import jax.numpy as jnp


class Trainer:
    def __init__(self, loss, lr):
        self.loss, self.lr = loss, lr

        @jax.jit
        def step(params, lr):
            return params - lr * jax.grad(self.loss)(params)

        self.step = step

    def fit(self, params, epochs, per_epoch=5):
        for _ in range(epochs):
            for _ in range(per_epoch):
                params = self.step(params, self.lr)
            self.lr *= 0.5
        return params


trainer = Trainer(lambda p: jnp.sum((p - 3.0) ** 2), lr=0.1)
params = trainer.fit(jnp.array([0.0, 1.0]), epochs=3)
print([round(p, 4) for p in params.tolist()])
