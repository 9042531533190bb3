import jax
import jax.numpy as jnp


def predict(params, x):
    return jnp.tanh(x @ params["w"]) @ params["v"]


def loss(params, x, y):
    guess = predict(params, x)
    assert guess.shape == y.shape
    return jnp.mean((guess - y) ** 2)


@jax.jit
def step(params, x, y):
    grads = jax.grad(loss)(params, x, y)
    return jax.tree.map(lambda p, g: p - 0.2 * g, params, grads)


x = jnp.linspace(-1.0, 1.0, 16)[:, None]
y = 0.5 * x
params = {"w": jnp.ones((1, 4)) * 0.5, "v": jnp.linspace(0.1, 0.4, 4)[:, None]}
for _ in range(50):
    params = step(params, x, y)
print(bool(loss(params, x, y) < 0.01), predict(params, x).shape)
