import jax
import jax.numpy as jnp


def reparameterize(key, mean, log_std):
    eps = jax.random.normal(key, (mean.shape[0], mean.shape[1]))
    return mean + jnp.exp(log_std) * eps


z = reparameterize(jax.random.key(1), jnp.zeros((2, 3)), jnp.zeros((2, 3)))
print(z.shape, z.round(2).tolist())
