import jax
import jax.numpy as jnp

DT = 0.1


def throw(velocity):
    def step(carry, _):
        position, velocity = carry
        velocity = velocity - DT * jnp.array([0.0, 9.81])
        position = position + DT * velocity
        return (position, velocity), position

    start = (jnp.zeros(2), velocity)
    _, path = jax.lax.scan(step, start, None, length=5)
    return jnp.concatenate([jnp.zeros((1, 2)), path])


path = throw(jnp.array([3.0, 4.0]))
print(path.round(2).tolist())
