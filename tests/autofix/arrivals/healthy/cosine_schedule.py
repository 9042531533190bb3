# error: none
# expect: none
# result: 0.1 0.0

import jax
import jax.numpy as jnp


def schedule(step, warmup=10, total=100, peak=0.1):
    warm = peak * step / warmup
    t = jnp.clip((step - warmup) / (total - warmup), 0.0, 1.0)
    return jnp.where(step < warmup, warm, peak * 0.5 * (1 + jnp.cos(jnp.pi * t)))


rates = jax.vmap(schedule)(jnp.arange(101))
print(round(float(rates.max()), 4), round(float(rates[-1]), 4))
