import jax
import jax.numpy as jnp


def init_layer(key):
    return {"w": 0.2 * jax.random.normal(key, (6, 6)), "b": jnp.zeros(6)}


@jax.jit
def network(stacked, x):
    def layer(x, params):
        x = x + jnp.tanh(x @ params["w"] + params["b"])
        return x, jnp.linalg.norm(x)

    return jax.lax.scan(layer, x, stacked)


stacked = jax.vmap(init_layer)(jax.random.split(jax.random.key(0), 12))
out, norms = network(stacked, jnp.ones(6))
third = jax.tree.map(lambda p: p[2], stacked)
print(out.shape, norms.shape, third["w"].shape, stacked["b"].shape)
