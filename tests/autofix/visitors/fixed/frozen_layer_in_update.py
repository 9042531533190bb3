# One correct fixed version of frozen_layer_in_update.py
import jax
import jax.numpy as jnp

params = {
    "encoder": {"w": jnp.array([[0.2, 0.4], [0.1, -0.3]])},
    "head": {"w": jnp.array([0.5, -0.5]), "b": jnp.array(0.0)},
}
x = jnp.array([[1.0, 2.0], [-1.0, 0.5], [0.0, 1.0]])
y = jnp.array([0.5, -0.5, 0.2])


def loss(trainable, frozen):
    features = jnp.tanh(x @ frozen["w"])
    return jnp.mean((features @ trainable["w"] + trainable["b"] - y) ** 2)


for _ in range(50):
    slopes = {"head": jax.grad(loss)(params["head"], params["encoder"])}
    head = jax.tree.map(lambda p, g: p - 0.5 * g, params["head"], slopes["head"])
    params = {**params, "head": head}
print(round(float(loss(params["head"], params["encoder"])), 4))
