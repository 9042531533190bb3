import jax
import jax.numpy as jnp


@jax.jit
def layer(w, x):
    return jax.vjp(lambda w, x: jnp.tanh(w @ x), w, x)


weights = [jnp.eye(3) * scale for scale in (0.5, 1.0, 1.5)]
x = jnp.array([0.3, -0.2, 0.1])
pullbacks = []
for w in weights:
    x, pullback = layer(w, x)
    pullbacks.append(pullback)

cotangent = 2.0 * x
norms = []
for pullback in reversed(pullbacks):
    slope, cotangent = pullback(cotangent)
    norms.append(round(float(jnp.linalg.norm(slope)), 4))
print(norms, cotangent.shape)
