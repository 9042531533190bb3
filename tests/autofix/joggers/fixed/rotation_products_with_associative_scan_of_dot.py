import jax
import jax.numpy as jnp


def rotation(angle):
    c, s = jnp.cos(angle), jnp.sin(angle)
    return jnp.array([[c, -s], [s, c]])


def compose(first, second):
    return jnp.matmul(second, first)


angles = jnp.array([0.1, 0.4, -0.2, 0.7, 0.25])
turns = jax.vmap(rotation)(angles)
total = jax.lax.associative_scan(compose, turns)
heading = total @ jnp.array([1.0, 0.0])
print(heading.round(3).tolist())
print(jnp.arctan2(heading[:, 1], heading[:, 0]).round(2).tolist())
