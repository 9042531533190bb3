# One correct fixed version of fold_in_forgotten.py
import jax
import jax.numpy as jnp


def perturb(state, key, members):
    """An ensemble of states for a forecast."""
    ensemble = []
    for member in range(members):
        member_key = jax.random.fold_in(key, member)
        ensemble.append(state + 0.1 * jax.random.normal(member_key, state.shape))
    return jnp.stack(ensemble)


ensemble = perturb(jnp.array([1.0, 2.0, 3.0]), jax.random.key(4), 8)
spread = ensemble.std(axis=0)
print(ensemble.shape, bool(jnp.all(spread > 0.01)))
