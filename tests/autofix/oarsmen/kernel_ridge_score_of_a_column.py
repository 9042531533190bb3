# error: none
# expect: BroadcastWarning
# line: 32
# depends: -
# fix: any
# result: {0.05: 1.0, 0.3: 1.0}

import jax
import jax.numpy as jnp


def rbf(a, b, length):
    d2 = jnp.sum((a[:, None, :] - b[None, :, :]) ** 2, axis=-1)
    return jnp.exp(-0.5 * d2 / length**2)


class KernelRidge:
    def __init__(self, length=0.3, ridge=1e-2):
        self.length, self.ridge = length, ridge

    def fit(self, X, y):
        K = rbf(X, X, self.length) + self.ridge * jnp.eye(len(X))
        self.X = X
        self.dual = jax.scipy.linalg.solve(K, y.reshape(-1, 1), assume_a="pos")
        return self

    def predict(self, X):
        return rbf(X, self.X, self.length) @ self.dual


def r2_score(y_true, y_pred):
    residual = jnp.sum((y_true - y_pred) ** 2)
    total = jnp.sum((y_true - y_true.mean()) ** 2)
    return 1.0 - residual / total


x = jnp.linspace(-1.0, 1.0, 40)[:, None]
y = jnp.sin(4 * x[:, 0]) + 0.2 * x[:, 0]
train, test = slice(0, None, 2), slice(1, None, 2)
scores = {}
for length in (0.05, 0.3):
    model = KernelRidge(length).fit(x[train], y[train])
    scores[length] = round(float(r2_score(y[test], model.predict(x[test]))), 1)
print(scores)
