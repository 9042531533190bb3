# error: ConcretizationTypeError
# line: 29
# depends: params, x, y
# fix: no_conversion
# result: 0.5625 0.75 -0.6
# grade: ran
"""Training with a dictionary of metrics as the auxiliary result."""
import jax
import jax.numpy as jnp


class Linear:
    def __init__(self, size):
        self.size = size

    def init(self):
        return {"w": jnp.linspace(-1.0, 1.0, self.size), "b": jnp.zeros(())}

    def apply(self, params, x):
        return x @ params["w"] + params["b"]


model = Linear(3)


def evaluate(params, x, y):
    error = model.apply(params, x) - y
    mse = jnp.mean(error**2)
    metrics = {"rmse": float(jnp.sqrt(mse)), "bias": jnp.mean(error)}
    return mse, metrics


@jax.jit
def train_step(params, x, y):
    (value, metrics), grads = jax.value_and_grad(evaluate, has_aux=True)(params, x, y)
    params = jax.tree.map(lambda p, g: p - 0.1 * g, params, grads)
    return params, value, metrics


params = model.init()
x = jnp.array([[1.0, 0.0, 2.0], [0.0, 1.0, -1.0]])
for _ in range(2):
    params, value, metrics = train_step(params, x, jnp.array([1.0, 0.5]))
print(round(float(value), 4), round(float(metrics["rmse"]), 4), round(float(metrics["bias"]), 4))
