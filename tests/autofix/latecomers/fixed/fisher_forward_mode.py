# One correct fixed version of fisher_forward_mode.py
import jax
import jax.numpy as jnp


@jax.custom_vjp
def log1pexp(x):
    return jnp.logaddexp(x, 0.0)


def log1pexp_fwd(x):
    return log1pexp(x), jax.nn.sigmoid(x)


def log1pexp_bwd(s, g):
    return (g * s,)


log1pexp.defvjp(log1pexp_fwd, log1pexp_bwd)


def per_example(w, X, y):
    logits = X @ w
    return log1pexp(logits) - y * logits


def empirical_fisher(w, X, y):
    J = jax.jacrev(per_example)(w, X, y)
    return J.T @ J / X.shape[0]


X = jnp.stack([jnp.ones(10), jnp.linspace(-2, 2, 10)], axis=1)
y = (jnp.arange(10) > 4).astype(jnp.float32)
w = jnp.array([0.1, 0.8])
for _ in range(5):
    F = empirical_fisher(w, X, y) + 1e-2 * jnp.eye(2)
    g = jax.grad(lambda w: per_example(w, X, y).mean())(w)
    w = w - 0.5 * jnp.linalg.solve(F, g)
print([round(float(v), 3) for v in w])
