# error: none
# expect: SideEffectWarning
# jax-differs: jax silently counts traces, not episodes
# line: 21
# depends: -
# fix: count_outside
# fixed-file: fixed/episodes_counted_by_global.py
# result: 6 True
# family: silent/side-effect-global

import jax
import jax.numpy as jnp

episodes = 0


@jax.jit
def play(key):
    """One episode of a random walk; gives the return."""
    global episodes
    episodes += 1
    steps = jax.random.choice(key, jnp.array([-1.0, 1.0]), (20,))
    return jnp.max(jnp.cumsum(steps))


returns = []
for seed in range(6):
    returns.append(float(play(jax.random.key(seed))))
mean = sum(returns) / episodes
print(episodes, round(mean, 4) == round(sum(returns) / 6, 4))
