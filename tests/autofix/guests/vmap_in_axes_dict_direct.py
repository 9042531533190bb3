# error: TypeError
# line: 17
# also-line: 21
# depends: -
# fix: in_axes
# fixed-file: fixed/vmap_in_axes_dict_direct.py
# result: 1 [1.414, 1.0, 3.162]

import jax
import jax.numpy as jnp


def distance(sample):
    return jnp.sqrt(jnp.sum((sample["position"] - sample["anchor"]) ** 2))


batched = jax.vmap(distance, in_axes={"position": 0, "anchor": None})


def nearest(positions, anchor):
    gaps = batched({"position": positions, "anchor": anchor})
    return jnp.argmin(gaps), gaps


positions = jnp.array([[0.0, 3.0], [1.0, 1.0], [2.0, 5.0]])
index, gaps = nearest(positions, jnp.array([1.0, 2.0]))
print(int(index), [round(float(g), 3) for g in gaps])
