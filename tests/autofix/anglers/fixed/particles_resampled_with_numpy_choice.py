import jax
import jax.numpy as jnp

n_particles = 4000
observations = jnp.array([0.15, 0.7, 1.4, 2.0, 2.6, 3.2])


def filter_step(particles, inputs):
    observation, key = inputs
    key_move, key_pick = jax.random.split(key)
    particles = particles + 0.5 + 0.3 * jax.random.normal(key_move, (n_particles,))
    log_weights = -0.5 * ((observation - particles) / 0.4) ** 2
    weights = jax.nn.softmax(log_weights)
    estimate = jnp.sum(weights * particles)
    picked = jax.random.choice(key_pick, n_particles, (n_particles,), p=weights)
    return particles[picked], estimate


@jax.jit
def run_filter(key, observations):
    key_start, key_steps = jax.random.split(key)
    particles = jax.random.normal(key_start, (n_particles,))
    keys = jax.random.split(key_steps, observations.shape[0])
    return jax.lax.scan(filter_step, particles, (observations, keys))


particles, estimates = run_filter(jax.random.key(0), observations)
print([round(float(e), 1) for e in estimates])
print(round(float(particles.std()), 1))
