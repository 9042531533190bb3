# error: none
# expect: NaNGradientWarning | FloatingPointError
# jax-differs: jax silently returns nan gradients
# line: 19
# also-line: 30
# depends: logits
# fix: guard_domain
# fixed-file: fixed/fidelity_of_equal_states.py
# result: True 0.16
# family: silent/nan-gradient-arccos

import jax
import jax.numpy as jnp


def distance(p, q):
    """Angle between two distributions on the sphere of their square roots."""
    overlap = jnp.sum(jnp.sqrt(p * q))
    return jnp.arccos(overlap)


def mismatch(logits, target):
    return distance(jax.nn.softmax(logits), target)


target = jnp.array([0.25, 0.25, 0.25, 0.25])
logits = jnp.array([1.0, 0.0, 0.0, 0.0])
for rate in (0.5, 0.5, 0.0):
    logits = logits - rate * jax.grad(mismatch)(logits, target)
slope = jax.grad(mismatch)(jnp.zeros(4), target)
print(bool(jnp.all(jnp.isfinite(slope))), round(float(mismatch(logits, target)), 2))
