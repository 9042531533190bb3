import jax
import jax.numpy as jnp
from jax.experimental.ode import odeint


def pendulum(state, t):
    angle, speed = state
    return jnp.array([speed, -jnp.sin(angle)])


times = jnp.array([0.0, 0.5, 1.0])
path = odeint(pendulum, jnp.array([0.5, 0.0]), times)
print(path.round(3).tolist())
