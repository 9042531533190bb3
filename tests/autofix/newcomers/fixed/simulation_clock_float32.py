import jax
import jax.numpy as jnp


def drive(t):
    return jnp.sin(2 * jnp.pi * t)


def integrate(x, t0, dt, n):
    def step(carry, _):
        x, elapsed = carry
        t = t0 % 1.0 + elapsed
        x = x + dt * (drive(t) - 0.1 * x)
        return (x, elapsed + dt), None

    (x, _), _ = jax.lax.scan(step, (x, 0.0), None, length=n)
    return x


x = integrate(jnp.float32(0.0), jnp.float32(200_000.0), 0.001, 5_250)
print(round(float(x), 2))
