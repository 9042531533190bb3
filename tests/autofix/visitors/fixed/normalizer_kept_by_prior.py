# One correct fixed version of normalizer_kept_by_prior.py
import jax
import jax.numpy as jnp


class TruncatedNormal:
    def __init__(self, low):
        self.low = low
        self.log_mass = jnp.log(0.5 * jax.lax.erfc(low / jnp.sqrt(2.0)))

    def log_density(self, value):
        inside = -0.5 * value**2 - 0.5 * jnp.log(2.0 * jnp.pi) - self.log_mass
        return jnp.where(value > self.low, inside, -jnp.inf)


prior = TruncatedNormal(0.5)
log_density = jax.jit(prior.log_density)
print(round(float(log_density(1.0)), 4))
print(round(float(prior.log_density(2.0)), 4))
