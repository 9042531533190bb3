# error: none
# expect: RecompilationWarning
# jax-differs: jax compiles for each size
# line: 23
# also-line: 24, 25
# depends: -
# fix: pad
# result: 1.2558

import jax
import jax.numpy as jnp


@jax.jit
def posterior_mean(xs, ys, at):
    weights = jnp.exp(-((xs - at) ** 2))
    return jnp.sum(weights * ys) / jnp.sum(weights)


xs, ys = jnp.array([0.0]), jnp.array([1.0])
for i in range(12):
    at = 0.1 * i
    mean = posterior_mean(xs, ys, at)
    xs = jnp.append(xs, at)
    ys = jnp.append(ys, mean + 0.1)
print(round(float(mean), 4))
