# One correct fixed version of overflow_factorial.py
import jax
import jax.numpy as jnp


@jax.jit
def permutations(items, chosen):
    ranks = jnp.arange(1, 21)
    factors = jnp.where((ranks > items - chosen) & (ranks <= items), ranks, 1)
    return jnp.prod(factors.astype(jnp.float32))


def log10_permutations(items, chosen):
    return jnp.log10(permutations(items, chosen))


for items, chosen in ((5, 3), (16, 10)):
    print(round(float(log10_permutations(items, chosen)), 4))
