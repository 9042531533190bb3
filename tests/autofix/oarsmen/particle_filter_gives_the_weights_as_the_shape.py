# error: TypeError
# line: 31
# depends: -
# fix: any
# result: (8,) True True

import jax
import jax.numpy as jnp

N = 400
Q, R = 0.3, 0.4


def propagate(key, particles):
    drift = 0.5 * particles + 2.0 * jnp.sin(particles)
    return drift + Q * jax.random.normal(key, particles.shape)


def log_weight(particles, y):
    return -0.5 * ((y - particles) / R) ** 2


def filter_step(carry, y):
    key, particles = carry
    key, k_move, k_pick = jax.random.split(key, 3)
    particles = propagate(k_move, particles)
    logw = log_weight(particles, y)
    w = jax.nn.softmax(logw)
    estimate = jnp.sum(w * particles)
    ess = 1.0 / jnp.sum(w**2)
    particles = jax.random.choice(k_pick, particles, w)
    return (key, particles), (estimate, ess)


@jax.jit
def run_filter(key, ys):
    key, k0 = jax.random.split(key)
    particles = jax.random.normal(k0, (N,))
    _, out = jax.lax.scan(filter_step, (key, particles), ys)
    return out


ys = jnp.array([0.9, 1.8, 2.7, 2.2, 2.6, 2.4, 2.5, 2.3])
means, ess = run_filter(jax.random.key(8), ys)
print(means.shape, bool(jnp.abs(means[2:] - ys[2:]).max() < 0.5), bool(ess.min() > 1.0))
