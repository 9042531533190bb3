import jax
import jax.numpy as jnp


def objective(w, features, labels):
    logits = features @ w
    return jnp.mean(jnp.logaddexp(0.0, logits) - labels * logits) + 0.05 * w @ w


def newton_direction(w, features, labels):
    gradient = jax.grad(objective)

    def curvature(v):
        return jax.jvp(lambda u: gradient(u, features, labels), (w,), (v,))[1]

    g = gradient(w, features, labels)
    direction, _ = jax.scipy.sparse.linalg.cg(curvature, -g, maxiter=10)
    return direction


features = jnp.array([[1.0, 0.2], [0.3, -1.0], [-0.7, 0.4], [0.1, 1.2]])
labels = jnp.array([1.0, 0.0, 0.0, 1.0])
w = jnp.zeros(2)
for _ in range(4):
    w = w + newton_direction(w, features, labels)
print(w.round(3).tolist())
