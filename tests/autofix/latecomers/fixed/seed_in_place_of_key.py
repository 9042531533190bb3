# One correct fixed version of seed_in_place_of_key.py
"""Random Fourier features for an RBF kernel."""
import jax
import jax.numpy as jnp


def rff(seed, dim, n_features, lengthscale=1.0):
    freqs = jax.random.normal(jax.random.key(seed), (dim, n_features)) / lengthscale
    phases = jnp.linspace(0.0, 2 * jnp.pi, n_features, endpoint=False)

    def features(x):
        return jnp.sqrt(2.0 / n_features) * jnp.cos(x @ freqs + phases)

    return features


def rbf(x, z):
    return jnp.exp(-0.5 * jnp.sum((x[:, None] - z[None]) ** 2, axis=-1))


def max_error(seed, n_features):
    x = jnp.linspace(-1.0, 1.0, 12).reshape(6, 2)
    phi = rff(seed, 2, n_features)(x)
    return jnp.abs(phi @ phi.T - rbf(x, x)).max()


errors = [max_error(7, n) for n in (4, 4000)]
print("improves", bool(errors[1] < errors[0]))
