import jax
import jax.numpy as jnp

DECAY = 0.9


@jax.jit
def update_average(average, params):
    return jax.tree.map(lambda a, p: DECAY * a + (1.0 - DECAY) * p, average, params)


params = {"w": jnp.array([1.0, 2.0]), "b": jnp.array(0.5)}
average = {"w": jnp.zeros(2), "b": jnp.array(0.0)}
for step in range(5):
    params = {"w": params["w"] * 1.1, "b": params["b"] - 0.1}
    average = update_average(average, params)
print(average["w"].round(3).tolist())
print(round(float(average["b"]), 3))
