# error: TypeError
# line: 23
# also-line: 18
# depends: -
# fix: any
# result: [[0.9950000643730164, 0.10000000149011612], [0.878000020980835, 0.4790000319480896], [0.9550000429153442, 0.29600000381469727], [0.5400000214576721, 0.8410000205039978], [0.3150000274181366, 0.9490000605583191]] ; [0.09999999403953552, 0.5, 0.29999998211860657, 1.0, 1.25]

import jax
import jax.numpy as jnp


def rotation(angle):
    c, s = jnp.cos(angle), jnp.sin(angle)
    return jnp.array([[c, -s], [s, c]])


def compose(first, second):
    return jnp.dot(second, first)


angles = jnp.array([0.1, 0.4, -0.2, 0.7, 0.25])
turns = jax.vmap(rotation)(angles)
total = jax.lax.associative_scan(compose, turns)
heading = total @ jnp.array([1.0, 0.0])
print(heading.round(3).tolist())
print(jnp.arctan2(heading[:, 1], heading[:, 0]).round(2).tolist())
