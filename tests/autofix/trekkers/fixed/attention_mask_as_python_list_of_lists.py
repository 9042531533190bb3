import jax
import jax.numpy as jnp


@jax.jit
def attend(q, k, v):
    n = q.shape[0]
    mask = [[j <= i for j in range(n)] for i in range(n)]
    scores = jnp.where(jnp.array(mask), q @ k.T, -jnp.inf)
    return jax.nn.softmax(scores) @ v


x = jnp.eye(3)
print(attend(x, x, x).round(3).tolist())
