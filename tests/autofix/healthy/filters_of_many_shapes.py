import jax
import jax.numpy as jnp

SHAPES = {"stem": (3, 3, 1, 4), "block": (3, 3, 4, 8), "wide": (5, 5, 8, 8), "head": (8, 10)}

keys = dict(zip(SHAPES, jax.random.split(jax.random.key(1), len(SHAPES)), strict=True))
params = {
    name: jax.random.uniform(keys[name], shape, minval=-1.0, maxval=1.0) / shape[-2] ** 0.5
    for name, shape in SHAPES.items()
}
count = sum(p.size for p in jax.tree.leaves(params))
largest = max(float(jnp.abs(p).max()) for p in params.values())
print(count, largest <= 1.0, sorted(params))
