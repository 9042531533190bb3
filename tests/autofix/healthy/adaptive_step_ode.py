import jax
import jax.numpy as jnp


def f(y):
    return -5.0 * y + jnp.sin(3.0 * y)


@jax.jit
def integrate(y, end, tolerance):
    """Step doubling with Heun's method; not differentiated, so a while loop is fine."""

    def heun(y, h):
        k = f(y)
        return y + 0.5 * h * (k + f(y + h * k))

    def body(state):
        t, y, h, steps = state
        h = jnp.minimum(h, end - t)
        one = heun(y, h)
        two = heun(heun(y, 0.5 * h), 0.5 * h)
        error = jnp.abs(one - two) + 1e-12
        accept = error < tolerance
        t = jnp.where(accept, t + h, t)
        y = jnp.where(accept, two, y)
        h = h * jnp.clip(0.9 * (tolerance / error) ** (1.0 / 3.0), 0.3, 2.0)
        return t, y, h, steps + 1

    def unfinished(state):
        return (state[0] < end - 1e-6) & (state[3] < 1000)

    return jax.lax.while_loop(unfinished, body, (0.0, y, 0.1, 0))


t, y, _, steps = integrate(1.0, 2.0, 1e-4)
print(round(float(t), 3), bool(0.0 < y < 0.05), int(steps) < 200)
