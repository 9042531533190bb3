import jax
import jax.numpy as jnp


def circle(p, size):
    return jnp.sqrt(jnp.sum(p**2)) - size


def square(p, size):
    q = jnp.abs(p) - size
    outside = jnp.sqrt(jnp.sum(jnp.maximum(q, 0.0) ** 2))
    return outside + jnp.minimum(jnp.max(q), 0.0)


def stripe(p, size):
    return jnp.abs(p[0]) - size


@jax.jit
def distance(kind, p, size):
    return jax.lax.switch(kind, [circle, square, stripe], p, size)


p = jnp.array([1.5, -2.0])
total = 0.0
for kind in range(3):
    d = distance(kind, p, 0.75)
    total += float(jnp.sum(d))
    print(kind, round(float(jnp.sum(d)), 3))
print(round(total, 3))
