# error: none
# expect: UnrolledLoopWarning
# jax-differs: jax silently compiles 180 copies of the term
# line: 24
# also-line: 25
# depends: -
# fix: vmap
# fixed-file: fixed/unrolled_comprehension.py
# result: [1.002, 0.998, -0.999]

import jax
import jax.numpy as jnp

COUNT = 180


def term(k, x):
    frequency = 2.0 * k + 1.0
    return jnp.sin(frequency * x) / frequency


@jax.jit
def square_wave(x):
    terms = [term(k, x) for k in range(COUNT)]
    return 4.0 / jnp.pi * sum(terms)


wave = square_wave(jnp.array([0.5, 1.5, 4.0]))
print([round(float(v), 3) for v in wave])
