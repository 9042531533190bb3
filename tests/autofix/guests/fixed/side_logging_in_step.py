# One correct fixed version of side_logging_in_step.py
import logging
import sys

import jax
import jax.numpy as jnp

logging.basicConfig(stream=sys.stdout, level=logging.INFO, format="%(message)s")
log = logging.getLogger("train")


@jax.jit
def step(params, target):
    loss, grad = jax.value_and_grad(lambda p: jnp.sum((p - target) ** 2))(params)
    jax.debug.callback(lambda value: log.info("loss %s", value), loss, ordered=True)
    return params - 0.25 * grad


params = jnp.array([0.0, 4.0])
for _ in range(3):
    params = step(params, jnp.array([2.0, 2.0]))
jax.effects_barrier()
print(params.tolist())
