# One correct fixed version of gradient_of_keyword_only.py
import jax
import jax.numpy as jnp


def loss(params, *, inputs, targets):
    guess = jnp.tanh(inputs @ params["w"]) + params["b"]
    return jnp.mean((guess - targets) ** 2)


gradient = jax.jit(jax.grad(loss))

inputs = jnp.array([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]])
targets = jnp.array([0.5, -0.5, 0.0])
params = {"w": jnp.zeros(2), "b": jnp.array(0.1)}
for _ in range(30):
    grads = gradient(params, inputs=inputs, targets=targets)
    params = jax.tree.map(lambda p, g: p - 0.3 * g, params, grads)
print(round(float(loss(params, inputs=inputs, targets=targets)), 4))
