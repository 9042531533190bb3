import jax
import jax.numpy as jnp

SOFTENING = 0.05


def acceleration(position, mass):
    delta = position[None] - position[:, None]
    square = jnp.sum(delta**2, axis=-1) + SOFTENING**2
    return jnp.sum(mass[None, :, None] * delta * square[..., None] ** -1.5, axis=1)


@jax.jit
def simulate(position, velocity, mass):
    def step(carry, _):
        x, v = carry
        v = v + 0.005 * acceleration(x, mass)
        x = x + 0.01 * v
        v = v + 0.005 * acceleration(x, mass)
        return (x, v), jnp.sum(mass[:, None] * v, axis=0)

    return jax.lax.scan(step, (position, velocity), None, length=200)


mass = jnp.array([1.0, 0.1, 0.1])
position = jnp.array([[0.0, 0.0], [1.0, 0.0], [-2.0, 0.0]])
velocity = jnp.array([[0.0, 0.0], [0.0, 1.0], [0.0, -0.7]])
_, momentum = simulate(position, velocity, mass)
print(momentum.shape, bool(jnp.abs(momentum - momentum[0]).max() < 1e-4))
