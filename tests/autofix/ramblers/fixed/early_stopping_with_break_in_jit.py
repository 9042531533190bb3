import jax
import jax.numpy as jnp


def newton_sqrt(a):
    x = a
    for _ in range(20):
        step = 0.5 * (x - a / x)
        x = x - step
        if jnp.abs(step) < 1e-3:
            break
    return x


print(round(float(newton_sqrt(jnp.array(2.0))), 4))
