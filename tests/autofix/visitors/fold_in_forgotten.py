# error: none
# expect: UnusedResultWarning | KeyReuseError
# jax-differs: jax silently draws the same noise for each member
# line: 20
# also-line: 21
# depends: -
# fix: assign_result
# fixed-file: fixed/fold_in_forgotten.py
# result: (8, 3) True
# family: silent/unused-fold-in

import jax
import jax.numpy as jnp


def perturb(state, key, members):
    """An ensemble of states for a forecast."""
    ensemble = []
    for member in range(members):
        jax.random.fold_in(key, member)
        ensemble.append(state + 0.1 * jax.random.normal(key, state.shape))
    return jnp.stack(ensemble)


ensemble = perturb(jnp.array([1.0, 2.0, 3.0]), jax.random.key(4), 8)
spread = ensemble.std(axis=0)
print(ensemble.shape, bool(jnp.all(spread > 0.01)))
