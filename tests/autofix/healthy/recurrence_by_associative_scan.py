import jax
import jax.numpy as jnp


def combine(first, second):
    a1, b1 = first
    a2, b2 = second
    return a1 * a2, a2 * b1 + b2


@jax.jit
def linear_recurrence(a, b):
    """h[t] = a[t] * h[t - 1] + b[t], in parallel."""
    return jax.lax.associative_scan(combine, (a, b))[1]


@jax.jit
def reference(a, b):
    def step(h, ab):
        h = ab[0] * h + ab[1]
        return h, h

    return jax.lax.scan(step, 0.0, (a, b))[1]


a = jnp.linspace(0.1, 0.9, 33)
b = jnp.cos(jnp.arange(33.0))
print(bool(jnp.allclose(linear_recurrence(a, b), reference(a, b), atol=1e-5)))
print(jnp.cumsum(b).shape, round(float(linear_recurrence(a, b)[-1]), 3))
