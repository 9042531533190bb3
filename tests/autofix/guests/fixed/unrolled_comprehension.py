# One correct fixed version of unrolled_comprehension.py
import jax
import jax.numpy as jnp

COUNT = 180


def term(k, x):
    frequency = 2.0 * k + 1.0
    return jnp.sin(frequency * x) / frequency


@jax.jit
def square_wave(x):
    terms = jax.vmap(term, in_axes=(0, None))(jnp.arange(COUNT), x)
    return 4.0 / jnp.pi * terms.sum(axis=0)


wave = square_wave(jnp.array([0.5, 1.5, 4.0]))
print([round(float(v), 3) for v in wave])
