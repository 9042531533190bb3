# One correct fixed version of armijo_logistic.py
"""Gradient descent with backtracking for a small logistic regression."""
import jax
import jax.numpy as jnp


def nll(w, X, y):
    logits = X @ w
    return jnp.mean(jnp.logaddexp(0.0, logits) - y * logits)


@jax.jit
def descend(w, X, y):
    value, g = jax.value_and_grad(nll)(w, X, y)
    slope = jnp.vdot(g, g)
    step = jax.lax.while_loop(
        lambda s: nll(w - s * g, X, y) > value - 0.5 * s * slope,
        lambda s: s * 0.5, jnp.float32(8.0))
    return w - step * g, value


def make_data():
    X = jnp.array([[1.0, 0.2], [0.5, -1.0], [-1.5, 0.3], [-0.7, -0.4],
                   [2.0, 1.0], [-2.0, 1.5], [0.1, 0.9], [-0.3, -2.0]])
    y = jnp.array([1.0, 0.0, 0.0, 1.0, 1.0, 0.0, 1.0, 0.0])
    return X, y


def main():
    X, y = make_data()
    w = jnp.zeros(X.shape[1])
    for it in range(6):
        w, value = descend(w, X, y)
    print("loss", round(float(value), 4))
    print("w", [round(float(v), 3) for v in w])


if __name__ == "__main__":
    main()
