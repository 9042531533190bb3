# error: TypeError
# line: 23
# also-line: 19
# depends: -
# fix: any
# result: [[0.0, 0.0], [0.29999998211860657, 0.29999998211860657], [0.5999999642372131, 0.5099999904632568], [0.8999999761581421, 0.6100000143051147], [1.1999999284744263, 0.6200000047683716], [1.5, 0.5299999713897705]]

import jax
import jax.numpy as jnp

DT = 0.1


def throw(velocity):
    def step(carry, _):
        position, velocity, path = carry
        velocity = velocity - DT * jnp.array([0.0, 9.81])
        position = position + DT * velocity
        path = jnp.concatenate([path, position[None]])
        return (position, velocity, path), None

    start = (jnp.zeros(2), velocity, jnp.zeros((1, 2)))
    (_, _, path), _ = jax.lax.scan(step, start, None, length=5)
    return path


path = throw(jnp.array([3.0, 4.0]))
print(path.round(2).tolist())
