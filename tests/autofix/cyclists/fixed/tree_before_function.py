import jax
import jax.numpy as jnp

params = {"w": jnp.array([1.0, -2.0]), "b": jnp.array(0.5)}
halved = jax.tree.map(lambda p: 0.5 * p, params)
print(halved["w"].tolist(), float(halved["b"]))
