# error: ValueError
# line: 22
# depends: -
# fix: numpy_copy
# fixed-file: fixed/readonly_host_view.py
# result: ++++++++ ; +......+ ; +.####.+ ; +.#..#.+ ; +......+ ; +.##.#.+ ; +......+ ; ++++++++

"""Render particle positions to an ASCII canvas on the host."""
import jax
import jax.numpy as jnp
import numpy as np


@jax.jit
def density(points, weights):
    cells = jnp.clip((points * 8).astype(jnp.int32), 0, 7)
    grid = jnp.zeros((8, 8))
    return grid.at[cells[:, 1], cells[:, 0]].add(weights)


def frame(canvas):
    canvas[0, :] = canvas[-1, :] = -1.0
    canvas[:, 0] = canvas[:, -1] = -1.0
    return canvas


def render(canvas):
    shade = {True: "#", False: " "}
    return ["".join("+" if v < 0 else shade[v > 0.5] for v in row) for row in canvas]


angles = jnp.linspace(0, 2 * jnp.pi, 24, endpoint=False)
points = 0.5 + 0.25 * jnp.stack([jnp.cos(angles), jnp.sin(angles)], axis=1)
grid = density(points, jnp.full(24, 0.5))
canvas = frame(np.asarray(grid))
print("\n".join(line.replace(" ", ".") for line in render(canvas)))
