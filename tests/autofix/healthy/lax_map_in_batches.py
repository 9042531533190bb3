import jax
import jax.numpy as jnp


def escape_time(c):
    def body(carry, _):
        z, count = carry
        inside = jnp.abs(z) < 2.0
        z = jnp.where(inside, z * z + c, z)
        return (z, count + inside.astype(jnp.int32)), None

    (_, count), _ = jax.lax.scan(body, (jnp.zeros_like(c), 0), None, length=30)
    return count


@jax.jit
def mandelbrot(points):
    return jax.lax.map(escape_time, points, batch_size=16)


real = jnp.linspace(-2.0, 0.5, 20)
points = (real[:, None] + 1j * jnp.linspace(-1.0, 1.0, 9)).ravel()
counts = mandelbrot(points).reshape(20, 9)
print(counts.shape, int(counts.max()), int(counts[0].min()) < 30)
