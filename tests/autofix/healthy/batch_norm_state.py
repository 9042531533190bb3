import jax
import jax.numpy as jnp


def batch_norm(state, x, train):
    if train:  # a Python bool: two programs
        mean, var = x.mean(axis=0), x.var(axis=0)
        state = {
            "mean": 0.9 * state["mean"] + 0.1 * mean,
            "var": 0.9 * state["var"] + 0.1 * var,
        }
    else:
        mean, var = state["mean"], state["var"]
    return (x - mean) / jnp.sqrt(var + 1e-5), state


apply = jax.jit(batch_norm, static_argnames="train")

state = {"mean": jnp.zeros(3), "var": jnp.ones(3)}
batches = 5.0 + 2.0 * jax.random.normal(jax.random.key(0), (40, 64, 3))
for batch in batches:
    out, state = apply(state, batch, train=True)
test, _ = apply(state, batches[0], train=False)
print(bool(jnp.abs(state["mean"] - 5.0).max() < 0.5), bool(jnp.abs(test.mean()) < 0.5))
