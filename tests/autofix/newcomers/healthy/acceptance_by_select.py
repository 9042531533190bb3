import jax
import jax.numpy as jnp


class MALA:
    def __init__(self, log_density, eps):
        self.log_density, self.eps = log_density, eps

    def kernel(self, x, key):
        k_noise, k_coin = jax.random.split(key)
        drift = lambda y: y + self.eps * jax.grad(self.log_density)(y)
        y = drift(x) + jnp.sqrt(2 * self.eps) * jax.random.normal(k_noise, x.shape)
        q = lambda a, b: -jnp.sum((b - drift(a)) ** 2) / (4 * self.eps)
        log_ratio = self.log_density(y) + q(y, x) - self.log_density(x) - q(x, y)
        accept = jnp.log(jax.random.uniform(k_coin)) < log_ratio
        return jnp.where(accept, y, x), accept

    def sample(self, key, x0, n):
        _, accepted = jax.lax.scan(self.kernel, x0, jax.random.split(key, n))
        return accepted.mean()


sampler = MALA(lambda x: -0.5 * jnp.sum(x**2), 0.3)
rate = sampler.sample(jax.random.key(0), jnp.zeros(3), 500)
print(bool(0.5 < rate < 1.0))
