import jax
import jax.numpy as jnp


@jax.jit
def normalize(x):
    return x / jnp.linalg.norm(x)


@jax.jit
def reflect(x, normal):
    normal = normalize(normal)
    return x - 2.0 * (x @ normal) * normal


@jax.jit
def bounce_twice(x):
    return reflect(reflect(x, jnp.array([1.0, 1.0])), jnp.array([0.0, 2.0]))


print([round(float(v), 4) for v in bounce_twice(jnp.array([1.0, 0.5]))])
