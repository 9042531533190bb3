import jax
import jax.numpy as jnp


class RunningMean:
    def __init__(self, width, momentum=0.9):
        self.momentum = momentum
        self.value = jnp.zeros(width)

    def update(self, mean):
        self.value = self.momentum * self.value + (1 - self.momentum) * mean


running = RunningMean(3)


def predict(params, x, mean):
    h = jnp.tanh(x @ params["w1"] - mean)
    return h @ params["w2"]


def loss_fn(params, x, y):
    mean = (x @ params["w1"]).mean(axis=0)
    return jnp.mean((predict(params, x, mean) - y) ** 2), mean


@jax.jit
def train_step(params, x, y):
    grads, mean = jax.grad(loss_fn, has_aux=True)(params, x, y)
    return jax.tree.map(lambda p, g: p - 0.1 * g, params, grads), mean


x = jnp.sin(jnp.arange(40.0)).reshape(10, 4) + 0.5
y = x[:, 0] * x[:, 1]
params = {"w1": 0.4 * jnp.cos(jnp.arange(12.0)).reshape(4, 3), "w2": jnp.ones(3)}
for _ in range(30):
    params, mean = train_step(params, x, y)
    running.update(mean)
out = predict(params, x, running.value)
print(out.shape, [round(v, 2) for v in running.value.tolist()])
