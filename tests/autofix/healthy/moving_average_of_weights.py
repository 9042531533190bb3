import jax
import jax.numpy as jnp


def ema(average, params, decay):
    return jax.tree.map(lambda a, p: decay * a + (1.0 - decay) * p, average, params)


@jax.jit
def step(carry, noise):
    params, average = carry
    grads = jax.tree.map(lambda p: 2.0 * (p - 1.0) + noise, params)
    params = jax.tree.map(lambda p, g: p - 0.2 * g, params, grads)
    return (params, ema(average, params, 0.9)), params["w"]


params = {"w": jnp.array(5.0), "nested": [jnp.array(0.0), jnp.array([2.0, 2.0])]}
noise = jax.random.normal(jax.random.key(0), (100,))
(params, average), path = jax.lax.scan(step, (params, params), noise)
print(path.shape, bool(jnp.abs(average["w"] - 1.0) < 0.5))
print(jax.tree.structure(params) == jax.tree.structure(average))
