# error: none
# expect: StaleValueWarning
# line: 20
# also-line: 28
# depends: -
# fix: any
# result: [2.615000009536743, 6.196000099182129] ; [0.8420000672340393, 4.825000286102295]

import jax
import jax.numpy as jnp

dt = 0.1


@jax.jit
def euler(state):
    prey, predators = state
    born = 1.1 * prey - 0.4 * prey * predators
    died = 0.4 * predators - 0.1 * prey * predators
    return jnp.array([prey + dt * born, predators - dt * died])


state = jnp.array([10.0, 5.0])
for _ in range(10):
    state = euler(state)
print(state.round(3).tolist())

dt = 0.01
for _ in range(100):
    state = euler(state)
print(state.round(3).tolist())
