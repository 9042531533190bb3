import jax
import jax.numpy as jnp


def resample(key, particles, log_weights):
    index = jax.random.categorical(key, log_weights, shape=(particles.shape[0],))
    return particles[index]


@jax.jit
def filter_series(key, observations):
    init_key, scan_key = jax.random.split(key)
    particles = jax.random.normal(init_key, (256,))

    def step(particles, inputs):
        key, y = inputs
        move_key, pick_key = jax.random.split(key)
        particles = 0.9 * particles + 0.3 * jax.random.normal(move_key, particles.shape)
        log_weights = -0.5 * ((y - particles) / 0.2) ** 2
        particles = resample(pick_key, particles, log_weights)
        return particles, particles.mean()

    keys = jax.random.split(scan_key, observations.shape[0])
    return jax.lax.scan(step, particles, (keys, observations))[1]


observations = jnp.sin(jnp.arange(15.0) / 3.0)
means = filter_series(jax.random.key(8), observations)
print(means.shape, bool(jnp.abs(means - observations).mean() < 0.3))
