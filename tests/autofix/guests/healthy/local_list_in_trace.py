import jax
import jax.numpy as jnp


@jax.jit
def moments(x):
    found = []
    counters = {"odd": 0, "even": 0}
    for order in range(1, 5):
        found.append(jnp.mean((x - x.mean()) ** order))
        counters["odd" if order % 2 else "even"] += 1
    found.reverse()
    return sum(found) / counters["even"]


print(round(float(moments(jnp.array([1.0, 2.0, 4.0]))), 4))
