# error: none
# expect: LostUpdateWarning
# line: 18
# depends: pos
# fix: add_at
# result: [[0.2847, 0.5475], [0.6277, 0.719], [0.3876, 1.2335]]
# grade: ran
import jax
import jax.numpy as jnp

edges = jnp.array([[0, 1], [0, 2], [1, 2]])


def step(pos, _):
    d = pos[edges[:, 1]] - pos[edges[:, 0]]
    force = jnp.zeros_like(pos)
    here = force[edges[:, 0]]
    force = force.at[edges[:, 0]].set(here + d)
    force = force.at[edges[:, 1]].add(-d)
    return pos + 0.1 * force, None


pos = jnp.array([[0.0, 0.0], [1.0, 0.5], [0.3, 2.0]])
pos, _ = jax.lax.scan(step, pos, None, length=3)
print([[round(float(v), 4) for v in row] for row in pos])
