import jax
import jax.numpy as jnp

dt = 0.1


@jax.jit
def euler(state, dt):
    prey, predators = state
    born = 1.1 * prey - 0.4 * prey * predators
    died = 0.4 * predators - 0.1 * prey * predators
    return jnp.array([prey + dt * born, predators - dt * died])


state = jnp.array([10.0, 5.0])
for _ in range(10):
    state = euler(state, dt)
print(state.round(3).tolist())

dt = 0.01
for _ in range(100):
    state = euler(state, dt)
print(state.round(3).tolist())
