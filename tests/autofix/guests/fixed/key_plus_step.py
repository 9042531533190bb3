# One correct fixed version of key_plus_step.py
import jax
import jax.numpy as jnp


def dropout(key, x, rate):
    keep = jax.random.bernoulli(key, 1.0 - rate, x.shape)
    return jnp.where(keep, x / (1.0 - rate), 0.0)


def train_inputs(key, x, steps):
    outputs = []
    for step in range(steps):
        step_key = jax.random.fold_in(key, step)
        outputs.append(dropout(step_key, x, 0.5))
    return jnp.stack(outputs)


out = train_inputs(jax.random.key(0), jnp.ones(64), 3)
print(out.shape, bool(jnp.any(out[0] != out[1])), bool(jnp.any(out[1] != out[2])))
