# error: none
# expect: ZeroGradientWarning
# jax-differs: jax silently returns a gradient of zero
# line: 20
# depends: -
# fix: score_function
# fixed-file: fixed/bernoulli_relaxation_missing.py
# result: True True
# family: silent/zero-gradient-sampling

import jax
import jax.numpy as jnp

KEYS = jax.random.split(jax.random.key(0), 2000)
PAYOFF = jnp.array([1.0, 4.0])


def expected_payoff(probability):
    def one(key):
        win = jax.random.bernoulli(key, probability)
        return PAYOFF[win.astype(jnp.int32)]

    return jnp.mean(jax.vmap(one)(KEYS))


value, slope = jax.value_and_grad(expected_payoff)(0.4)
print(abs(float(value) - 2.2) < 0.2, abs(float(slope) - 3.0) < 0.3)
