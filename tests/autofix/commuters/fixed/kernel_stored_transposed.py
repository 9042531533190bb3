import jax
import jax.numpy as jnp


def init(key, inputs, outputs):
    return {"kernel": jax.random.normal(key, (outputs, inputs)), "bias": jnp.zeros(outputs)}


def loss(layer, rows, targets):
    guesses = rows @ layer["kernel"].T + layer["bias"]
    return jnp.mean((guesses - targets) ** 2)


layer = init(jax.random.key(0), 4, 2)
rows = jnp.linspace(0.0, 1.0, 12).reshape(3, 4)
targets = rows[:, :2]
slopes = jax.jit(jax.grad(loss))(layer, rows, targets)
print(
    {name: slope.shape for name, slope in slopes.items()},
    round(float(jnp.abs(slopes["bias"]).sum()), 3),
)
