import jax
import jax.numpy as jnp


def make_step(loss_fn, rate):
    gradient = jax.grad(loss_fn)

    @jax.jit
    def step(params, data):
        return jax.tree.map(lambda p, g: p - rate * g, params, gradient(params, data))

    return step


def loss_fn(params, data):
    return jnp.mean((params["a"] * data + params["b"] - 3.0) ** 2)


step = make_step(loss_fn, 0.1)
params = {"a": jnp.array(1.0), "b": jnp.array(0.0)}
for _ in range(20):
    params = step(params, jnp.array([0.0, 1.0]))
print(round(float(loss_fn(params, jnp.array([0.0, 1.0]))), 3))
