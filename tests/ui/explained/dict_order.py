import sagax
import sagax.numpy as jnp

params = {"w": jnp.ones(2), "b": jnp.zeros(2)}
grads = {"w": jnp.ones(2), "b": jnp.ones(2)}
pairs = zip(params.values(), sagax.tree.leaves(grads), strict=True)  #~ SX0417 order of its sorted keys, b, w
print(len(list(pairs)))
