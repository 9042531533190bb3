import jax
import jax.numpy as jnp


def layer(w, x):
    return jnp.sum(jnp.tanh(x @ w) ** 2)


f = jax.checkpoint(layer, policy=jax.checkpoint_policies.dots_saveable)
print(jax.grad(f)(jnp.eye(2), jnp.array([[1.0, 0.5]])).round(3).tolist())
