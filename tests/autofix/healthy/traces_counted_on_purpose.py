import jax
import jax.numpy as jnp

traces = []


@jax.jit
def score(x):
    traces.append(x.shape)  # one entry for each compilation: what this program is about
    return jnp.sum(x**2)


for _ in range(5):
    score(jnp.ones(3))
score(jnp.ones(4))
print(traces)
