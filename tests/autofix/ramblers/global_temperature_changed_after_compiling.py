# error: none
# expect: StaleValueWarning
# jax-differs: the old temperature
# line: 17
# depends: -
# fix: any
# result: True

import jax
import jax.numpy as jnp

temperature = 1.0


@jax.jit
def policy(logits):
    return jax.nn.softmax(logits / temperature)


logits = jnp.array([0.0, 1.0])
warm = policy(logits)
temperature = 0.1
cold = policy(logits)
print(bool(cold[1] > 0.99))
