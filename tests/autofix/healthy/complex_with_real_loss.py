import jax
import jax.numpy as jnp


def response(poles, frequency):
    z = jnp.exp(1j * frequency)
    return 1.0 / jnp.prod(1.0 - poles[:, None] / z, axis=0)


def loss(poles, frequency, wanted):
    return jnp.mean((jnp.abs(response(poles, frequency)) - wanted) ** 2)


frequency = jnp.linspace(0.1, 3.0, 16)
wanted = jnp.abs(response(jnp.array([0.5, -0.3]), frequency))
poles = jnp.array([0.3, -0.1])
step = jax.jit(lambda p: p - 0.05 * jax.grad(loss)(p, frequency, wanted))
for _ in range(80):
    poles = step(poles)
print([round(float(p), 1) for p in poles], bool(loss(poles, frequency, wanted) < 1e-2))
