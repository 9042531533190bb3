# error: ValueError
# expect: ValueError | TypeError
# line: 15
# depends: -
# fix: keyword_argument
# fixed-file: fixed/uniform_bounds_as_shape.py
# result: converged True

import jax
import jax.numpy as jnp


def init_particles(key, n, low, high):
    pos_key, vel_key = jax.random.split(key)
    pos = jax.random.uniform(pos_key, low, high)
    vel = 0.1 * jax.random.normal(vel_key, (n, low.shape[0]))
    return pos, vel


def sphere(x):
    return jnp.sum(x ** 2, axis=-1)


@jax.jit
def pso_step(key, pos, vel, best):
    lead = best[jnp.argmin(sphere(best))]
    r1, r2 = jax.random.uniform(key, (2,) + pos.shape)
    vel = 0.6 * vel + 1.2 * r1 * (best - pos) + 1.2 * r2 * (lead - pos)
    pos = pos + vel
    improved = sphere(pos) < sphere(best)
    return pos, vel, jnp.where(improved[:, None], pos, best)


key = jax.random.key(0)
key, init_key = jax.random.split(key)
low, high = jnp.array([-5.0, -5.0]), jnp.array([5.0, 5.0])
pos, vel = init_particles(init_key, 20, low, high)
best = pos
for k in jax.random.split(key, 60):
    pos, vel, best = pso_step(k, pos, vel, best)
print("converged", bool(sphere(best).min() < 1e-3))
