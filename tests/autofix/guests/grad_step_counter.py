# error: TypeError
# line: 24
# depends: -
# fix: float_input
# fixed-file: fixed/grad_step_counter.py
# result: 5 0.0012

import jax
import jax.numpy as jnp


def predict(model, x):
    return jnp.tanh(x @ model["w"]) * model["scale"]


def loss_fn(model, x, y):
    return jnp.mean((predict(model, x) - y) ** 2)


model = {"w": jnp.array([0.1, -0.2]), "scale": jnp.array(1.0), "step": jnp.array(0)}
x = jnp.array([[1.0, 2.0], [0.5, -1.0]])
y = jnp.array([0.3, 0.1])
for _ in range(5):
    grads = jax.grad(loss_fn)(model, x, y)
    model["w"] = model["w"] - 0.1 * grads["w"]
    model["scale"] = model["scale"] - 0.1 * grads["scale"]
    model["step"] = model["step"] + 1
print(int(model["step"]), round(float(loss_fn(model, x, y)), 4))
