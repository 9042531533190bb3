import jax
import jax.numpy as jnp


class RandomFourierFeatures:
    def __init__(self, key, dim, lengthscale=1.0):
        self.key, self.dim, self.lengthscale = key, dim, lengthscale

    def features(self, x, n_features):
        shape = (self.dim, n_features)
        omega = jax.random.normal(self.key, shape) / self.lengthscale
        z = x @ omega
        return jnp.concatenate([jnp.cos(z), jnp.sin(z)], axis=-1) / jnp.sqrt(n_features)


rff = RandomFourierFeatures(jax.random.key(5), dim=2)
transform = jax.jit(rff.features, static_argnums=(1,))
x = jnp.array([[0.0, 0.0], [0.5, -0.5], [1.0, 1.0]])
phi = transform(x, 2048)
gram = phi @ phi.T
print(phi.shape, bool(abs(gram[0, 1] - jnp.exp(-0.25)) < 0.1))
