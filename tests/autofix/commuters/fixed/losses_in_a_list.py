import jax
import jax.numpy as jnp

inputs = jnp.linspace(-1.0, 1.0, 16)
targets = 3.0 * inputs - 0.5
losses = []


def loss(weights):
    return jnp.mean((weights["a"] * inputs + weights["b"] - targets) ** 2)


@jax.jit
def improve(weights):
    value, slopes = jax.value_and_grad(loss)(weights)
    return jax.tree.map(lambda w, s: w - 0.3 * s, weights, slopes), value


weights = {"a": 0.0, "b": 0.0}
for _ in range(5):
    weights, value = improve(weights)
    losses.append(value)
print(jnp.stack(losses).round(4).tolist(), round(float(weights["a"]), 4))
