import jax
import jax.numpy as jnp

N = 500
observations = jnp.array([0.4, 0.9, 1.1, 1.8, 2.2, 2.1, 2.9])


def resample(key, particles, log_w):
    index = jax.random.categorical(key, log_w, shape=(N,))
    return particles[index], jnp.full(N, -jnp.log(N))


def step(carry, inputs):
    particles, log_w = carry
    key, y = inputs
    k_move, k_pick = jax.random.split(key)
    particles = particles + 0.4 + 0.3 * jax.random.normal(k_move, (N,))
    log_w = log_w - 0.5 * ((y - particles) / 0.5) ** 2
    log_w = log_w - jax.scipy.special.logsumexp(log_w)
    mean = jnp.sum(jnp.exp(log_w) * particles)
    ess = 1.0 / jnp.sum(jnp.exp(2 * log_w))
    particles, log_w = jax.lax.cond(
        ess < N / 2,
        resample,
        lambda _, p, w: (p, w),
        k_pick, particles, log_w,
    )
    return (particles, log_w), mean


keys = jax.random.split(jax.random.key(2), len(observations))
start = (jnp.zeros(N), jnp.full(N, -jnp.log(N)))
_, means = jax.lax.scan(step, start, (keys, observations))
print([round(float(m), 1) for m in means])
