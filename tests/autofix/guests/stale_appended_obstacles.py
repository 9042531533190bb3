# error: none
# expect: StaleValueWarning
# jax-differs: jax silently ignores what was appended after the first call
# line: 19
# also-line: 25, 26
# depends: -
# fix: pass_argument
# fixed-file: fixed/stale_appended_obstacles.py
# result: 0.9142 0.25

import jax
import jax.numpy as jnp

obstacles = [(2.0, 0.0, 0.5)]


@jax.jit
def clearance(point):
    gaps = [jnp.hypot(point[0] - x, point[1] - y) - r for x, y, r in obstacles]
    return jnp.min(jnp.stack(gaps))


path = jnp.array([[0.0, 0.0], [1.0, 1.0], [2.0, 2.0]])
before = min(float(clearance(p)) for p in path)
obstacles.append((1.0, 1.5, 0.25))
after = min(float(clearance(p)) for p in path)
print(round(before, 4), round(after, 4))
