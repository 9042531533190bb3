# error: TracerBoolConversionError
# line: 13
# depends: action
# fix: where
# result: [1.0, 1.0] [1.0, 2.0, 2.5, 1.5, 2.0, 2.0]

import jax
import jax.numpy as jnp


def move(position, action):
    match action:
        case 0:
            return position + jnp.array([1.0, 0.0])
        case 1:
            return position - jnp.array([1.0, 0.0])
        case 2 | 3:
            return position + jnp.array([0.0, 0.5])
        case _:
            return position


class Grid:
    def __init__(self, size):
        self.size = size

    def step(self, position, action):
        new = jnp.clip(move(position, action), 0.0, self.size)
        return new, new.sum()


@jax.jit
def walk(start, actions):
    return jax.lax.scan(Grid(3.0).step, start, actions)


end, sums = walk(jnp.zeros(2), jnp.array([0, 0, 2, 1, 3, 4]))
print(end.tolist(), sums.tolist())
