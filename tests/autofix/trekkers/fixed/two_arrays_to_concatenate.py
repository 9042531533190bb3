import jax
import jax.numpy as jnp


def polynomial_features(x):
    squares = x**2
    features = jnp.concatenate([x, squares])
    return features


print(jax.vmap(polynomial_features)(jnp.array([[1.0, 2.0], [3.0, 0.5]])).tolist())
