# One correct fixed version of bool_skip_nan_step.py
import jax
import jax.numpy as jnp


def loss_fn(params, batch):
    x, y = batch
    return jnp.mean((x @ params["w"] + params["b"] - jnp.log(y)) ** 2)


@jax.jit
def train_step(params, batch):
    loss, grads = jax.value_and_grad(loss_fn)(params, batch)
    good = jnp.isfinite(loss)
    params = jax.tree.map(lambda p, g: jnp.where(good, p - 0.1 * g, p), params, grads)
    return params, jnp.where(good, loss, 0.0)


params = {"w": jnp.zeros(2), "b": jnp.zeros(())}
x = jnp.array([[1.0, 2.0], [0.0, 1.0]])
for y in (jnp.array([1.0, 3.0]), jnp.array([-1.0, 2.0])):
    params, loss = train_step(params, (x, y))
    print(round(float(loss), 4), round(float(params["b"]), 4))
