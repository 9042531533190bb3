import jax
import jax.numpy as jnp


def fit(x, y, epochs):
    rate = 0.4

    def loss(w):
        return jnp.mean((x * w - y) ** 2)

    @jax.jit
    def step(w, rate):
        return w - rate * jax.grad(loss)(w)

    w, path = jnp.array(0.0), []
    for epoch in range(epochs):
        w = step(w, rate)
        path.append(round(float(w), 4))
        rate = rate * 0.5
    return path


x = jnp.array([1.0, 0.5, -0.5])
y = 3.0 * x
print(fit(x, y, 5))
