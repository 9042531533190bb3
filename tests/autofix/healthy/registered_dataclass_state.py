from dataclasses import dataclass, field, replace

import jax
import jax.numpy as jnp


@jax.tree_util.register_dataclass
@dataclass
class State:
    position: jax.Array
    velocity: jax.Array
    steps: jax.Array
    name: str = field(default="ball", metadata={"static": True})


@jax.jit
def fall(state, dt):
    velocity = state.velocity - 9.81 * dt
    position = state.position + dt * velocity
    bounced = position < 0.0
    return replace(
        state,
        position=jnp.abs(position),
        velocity=jnp.where(bounced, -0.8 * velocity, velocity),
        steps=state.steps + 1,
    )


state = State(jnp.array([1.0, 2.0]), jnp.zeros(2), jnp.array(0))
for _ in range(50):
    state = fall(state, 0.01)
print(state.name, int(state.steps), bool(jnp.all(state.position >= 0.0)))
