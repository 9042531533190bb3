# error: none
# expect: SideEffectWarning
# jax-differs: jax silently logs a tracer, once
# line: 23
# depends: params, target
# fix: debug_callback
# fixed-file: fixed/side_logging_in_step.py
# result: loss 8.0 ; loss 2.0 ; loss 0.5 ; [1.75, 2.25]

import logging
import sys

import jax
import jax.numpy as jnp

logging.basicConfig(stream=sys.stdout, level=logging.INFO, format="%(message)s")
log = logging.getLogger("train")


@jax.jit
def step(params, target):
    loss, grad = jax.value_and_grad(lambda p: jnp.sum((p - target) ** 2))(params)
    log.info("loss %s", loss)
    return params - 0.25 * grad


params = jnp.array([0.0, 4.0])
for _ in range(3):
    params = step(params, jnp.array([2.0, 2.0]))
print(params.tolist())
