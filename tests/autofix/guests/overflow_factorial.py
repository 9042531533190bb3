# error: none
# expect: IntegerOverflowWarning | OverflowError
# jax-differs: jax silently wraps around
# line: 18
# depends: items, chosen
# fix: wider_dtype
# fixed-file: fixed/overflow_factorial.py
# result: 1.7782 ; 10.4633

import jax
import jax.numpy as jnp


@jax.jit
def permutations(items, chosen):
    ranks = jnp.arange(1, 21)
    factors = jnp.where((ranks > items - chosen) & (ranks <= items), ranks, 1)
    return jnp.prod(factors)


def log10_permutations(items, chosen):
    return jnp.log10(permutations(items, chosen))


for items, chosen in ((5, 3), (16, 10)):
    print(round(float(log10_permutations(items, chosen)), 4))
