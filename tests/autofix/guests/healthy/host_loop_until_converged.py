import jax
import jax.numpy as jnp


@jax.jit
def newton(x):
    f = jnp.cos(x) - x
    new = x - f / (-jnp.sin(x) - 1.0)
    return new, jnp.abs(new - x)


x, error, steps = jnp.array(0.5), jnp.inf, 0
while error > 1e-5 and steps < 50:
    x, error = newton(x)
    steps += 1
if bool(error < 1e-5):
    print(steps < 10, round(float(x), 4), max(steps, 1) == steps)
