# error: none
# expect: none
# result: phases [0, 1, 2, 2] ; [0.01, 0.1, 0.1, 0.0177] 2.99

"""Piecewise schedule by lax.switch; phases past the last stay on the last."""
import jax
import jax.numpy as jnp

PHASES = (
    lambda step: 0.1 * (step + 1) / 10,
    lambda step: jnp.full_like(step, 0.1),
    lambda step: 0.1 * 0.5 ** ((step - 20) / 10),
)


@jax.jit
def rate(step):
    phase = jnp.clip(step // 10, 0, len(PHASES) - 1)
    return jax.lax.switch(phase, PHASES, step.astype(jnp.float32)), phase


@jax.jit
def descend(x, step):
    lr, _ = rate(step)
    return x - lr * 2.0 * (x - 3.0)


x = jnp.float32(0.0)
for step in range(60):
    x = descend(x, jnp.int32(step))
probe = [rate(jnp.int32(s)) for s in (0, 10, 20, 45)]
print("phases", [int(p) for _, p in probe])
print([round(float(r), 4) for r, _ in probe], round(float(x), 2))
