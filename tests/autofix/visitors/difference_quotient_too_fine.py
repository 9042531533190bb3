# error: none
# expect: PrecisionLossWarning
# jax-differs: jax silently subtracts two numbers that are equal in float32
# line: 24
# depends: -
# fix: grad
# fixed-file: fixed/difference_quotient_too_fine.py
# result: [0.399, 0.767, 0.988]
# family: silent/precision-finite-difference

import jax
import jax.numpy as jnp


@jax.jit
def free_energy(temperature):
    levels = jnp.array([0.0, 1.0, 2.5])
    return -temperature * jax.nn.logsumexp(-levels / temperature)


def entropy(temperature):
    """Minus the derivative by the temperature."""
    h = 1e-8
    return -(free_energy(temperature + h) - free_energy(temperature)) / h


print([round(float(entropy(jnp.float32(t))), 3) for t in (0.5, 1.0, 2.0)])
