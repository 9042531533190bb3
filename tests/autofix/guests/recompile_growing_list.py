# error: none
# expect: RecompilationWarning
# jax-differs: jax silently compiles for each length of the list
# line: 26
# also-line: 15
# depends: snapshots
# fix: pad_shape
# fixed-file: fixed/recompile_growing_list.py
# result: [0.0, 0.16, 0.2773, 0.3616, 0.4204, 0.4595, 0.4838]

import jax
import jax.numpy as jnp


@jax.jit
def average_model(snapshots):
    return jax.tree.map(lambda *leaves: sum(leaves) / len(leaves), *snapshots)


model = {"w": jnp.array([1.0, -1.0]), "b": jnp.array(0.5)}
snapshots = []
distance = []
for epoch in range(7):
    model = jax.tree.map(lambda p: 0.8 * p, model)
    snapshots.append(model)
    average = average_model(snapshots)
    distance.append(jnp.abs(average["w"] - model["w"]).sum())
print([round(float(d), 4) for d in distance])
