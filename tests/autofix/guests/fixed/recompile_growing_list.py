# One correct fixed version of recompile_growing_list.py
import jax
import jax.numpy as jnp


@jax.jit
def update_average(average, model, count):
    return jax.tree.map(lambda a, p: a + (p - a) / count, average, model)


model = {"w": jnp.array([1.0, -1.0]), "b": jnp.array(0.5)}
average = jax.tree.map(jnp.zeros_like, model)
distance = []
for epoch in range(7):
    model = jax.tree.map(lambda p: 0.8 * p, model)
    average = update_average(average, model, epoch + 1.0)
    distance.append(jnp.abs(average["w"] - model["w"]).sum())
print([round(float(d), 4) for d in distance])
