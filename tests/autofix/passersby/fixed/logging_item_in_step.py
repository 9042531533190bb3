# One correct fixed version of logging_item_in_step.py
import jax
import jax.numpy as jnp


class Meter:
    def __init__(self):
        self.values = []

    def add(self, v):
        self.values.append(v)

    def mean(self):
        return sum(self.values) / max(len(self.values), 1)


def huber(r, delta=1.0):
    a = jnp.abs(r)
    return jnp.where(a < delta, 0.5 * r * r, delta * (a - 0.5 * delta))


def loss_fn(params, batch):
    x, y = batch
    return jnp.mean(huber(x * params["slope"] + params["offset"] - y))


@jax.jit
def step(params, batch):
    loss, grads = jax.value_and_grad(loss_fn)(params, batch)
    params = jax.tree.map(lambda p, g: p - 0.2 * g, params, grads)
    return params, loss


meter = Meter()
params = {"slope": jnp.array(0.0), "offset": jnp.array(0.0)}
x = jnp.linspace(-2.0, 2.0, 9)
batch = (x, 1.5 * x - 0.3)
for _ in range(25):
    params, loss = step(params, batch)
    meter.add(float(loss))
print("mean", round(meter.mean(), 4), "slope", round(float(params["slope"]), 3))
