# error: none
# expect: StaleValueWarning
# jax-differs: the first rate is used in all steps
# line: 22
# also-line: 15 | 21 | 26 | 28
# depends: -
# fix: any
# result: [1.2, 1.56, 1.704, 1.7688, 1.7996]

import jax
import jax.numpy as jnp


def fit(x, y, epochs):
    rate = 0.4

    def loss(w):
        return jnp.mean((x * w - y) ** 2)

    @jax.jit
    def step(w):
        return w - rate * jax.grad(loss)(w)

    w, path = jnp.array(0.0), []
    for epoch in range(epochs):
        w = step(w)
        path.append(round(float(w), 4))
        rate = rate * 0.5
    return path


x = jnp.array([1.0, 0.5, -0.5])
y = 3.0 * x
print(fit(x, y, 5))
