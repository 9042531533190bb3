import jax
import jax.numpy as jnp


@jax.jit
def decompose(matrix):
    values, vectors = jnp.linalg.eigh(matrix)
    return values, vectors


@jax.jit
def summary(x):
    return {"mean": x.mean(), "max": x.max(), "argmax": jnp.argmax(x)}


matrix = jnp.array([[2.0, 1.0], [1.0, 2.0]])
values, _ = decompose(matrix)
_, index = jax.lax.top_k(jnp.array([0.1, 0.9, 0.5]), 2)
largest, *_ = jnp.sort(values)[::-1]
print([round(float(v), 4) for v in values], index.tolist(), round(float(largest), 3))
print(int(summary(jnp.array([1.0, 5.0, 2.0]))["argmax"]))
