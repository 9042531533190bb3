import functools

import jax
import jax.numpy as jnp
import numpy as np

rng = np.random.default_rng(0)


class ParticleFilter:
    def __init__(self, n, noise=0.3):
        self.n, self.noise = n, noise

    @functools.partial(jax.jit, static_argnums=0)
    def update(self, particles, y, key):
        k_move, k_pick = jax.random.split(key)
        moved = particles + self.noise * jax.random.normal(k_move, particles.shape)
        weights = jax.nn.softmax(-0.5 * ((y - moved) / self.noise) ** 2)
        ancestors = jax.random.choice(k_pick, self.n, (self.n,), p=weights)
        return moved[ancestors]


pf = ParticleFilter(500)
particles = jnp.zeros(500)
for i, y in enumerate([0.2, 0.5, 0.7, 1.1]):
    particles = pf.update(particles, y, jax.random.key(i))
print(particles.shape, bool(abs(particles.mean() - 0.9) < 0.25))
