import functools

import jax
import jax.numpy as jnp


class OrnsteinUhlenbeck:
    def __init__(self, theta, mu, sigma, dt=0.01, n_paths=256):
        self.theta, self.mu, self.sigma = theta, mu, sigma
        self.dt, self.n_paths = dt, n_paths

    def step(self, x, key):
        dw = jnp.sqrt(self.dt) * jax.random.normal(key, (self.n_paths,))
        x = x + self.theta * (self.mu - x) * self.dt + self.sigma * dw
        return x, x.mean()

    @functools.partial(jax.jit, static_argnums=(0, 2))
    def simulate(self, key, n):
        x0 = jnp.full(self.n_paths, self.mu)
        return jax.lax.scan(self.step, x0, jax.random.split(key, n))


ou = OrnsteinUhlenbeck(2.0, 1.5, 0.4)
last, means = ou.simulate(jax.random.key(0), 300)
print(last.shape, means.shape, bool(abs(last.mean() - 1.5) < 0.1))
