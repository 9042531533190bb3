import jax
import jax.numpy as jnp


class Trainer:
    def __init__(self, w):
        self.w = w
        self.steps = 0
        self.history = []

    def fit(self, x, y, epochs):
        for _ in range(epochs):
            self.w, value = update(self.w, x, y)
            self.steps += 1
            self.history.append(value)
        return self


@jax.jit
def update(w, x, y):
    value, grad = jax.value_and_grad(lambda w: jnp.mean((x * w - y) ** 2))(w)
    return w - 0.1 * grad, value


x = jnp.array([1.0, 2.0, 0.5])
trainer = Trainer(jnp.array(0.0)).fit(x, 3.0 * x, 25)
print(trainer.steps, len(trainer.history), round(float(trainer.w), 3))
print(round(float(jnp.stack(trainer.history)[-1]), 4))
