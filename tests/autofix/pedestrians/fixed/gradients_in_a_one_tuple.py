import jax
import jax.numpy as jnp


def loss(params, inputs, targets):
    return jnp.mean((inputs @ params["slope"] + params["shift"] - targets) ** 2)


params = {"slope": jnp.zeros(2), "shift": jnp.zeros(())}
inputs = jnp.array([[1.0, 2.0], [0.5, -1.0], [3.0, 0.0]])
targets = jnp.array([1.0, 0.0, 2.0])
gradient = jax.jit(jax.grad(loss, argnums=0))
for _ in range(3):
    grads = gradient(params, inputs, targets)
    params = jax.tree.map(lambda p, g: p - 0.1 * g, params, grads)
print(params["slope"].round(4).tolist(), round(float(params["shift"]), 4))
