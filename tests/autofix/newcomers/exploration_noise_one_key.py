# error: none
# expect: KeyReuseError
# jax-differs: jax silently draws the noise and the coin from the same bits
# line: 15
# depends: -
# fix: split_key
# result: True True

import jax
import jax.numpy as jnp


def act(key, policy_action, epsilon, scale=0.5):
    explore = jax.random.uniform(key) < epsilon
    noise = scale * jax.random.normal(key)
    return jnp.where(explore, policy_action + noise, policy_action)


keys = jax.random.split(jax.random.key(42), 4000)
actions = jax.vmap(act, in_axes=(0, None, None))(keys, 0.3, 0.25)
shifted = actions != 0.3
print(bool(abs(shifted.mean() - 0.25) < 0.05), bool(abs(actions.mean() - 0.3) < 0.05))
