import itertools

import jax
import jax.numpy as jnp

x = jnp.linspace(0.0, 1.0, 20)
y = 3.0 * x


@jax.jit
def train(rate, decay):
    def step(w, _):
        slope = jax.grad(lambda w: jnp.mean((w * x - y) ** 2) + decay * w**2)(w)
        return w - rate * slope, None

    return jax.lax.scan(step, 0.0, None, length=100)[0]


for rate, decay in itertools.product((0.1, 0.5), (0.0, 0.1)):
    print(f"{rate:4.1f} {decay:4.1f} {float(train(rate, decay)):.2f}")
