# error: none
# expect: RecompilationWarning
# jax-differs: jax silently compiles in every step
# line: 25
# also-line: 33
# depends: -
# fix: hoist_jit
# result: [0.117, 1.632]

import jax
import jax.numpy as jnp


class LogisticRegression:
    def __init__(self, lr=0.5):
        self.lr = lr
        self.w = jnp.zeros(2)

    @staticmethod
    def nll(w, x, y):
        margin = (2 * y - 1) * (x @ w)
        return jnp.mean(jax.nn.softplus(-margin))

    def partial_fit(self, x, y):
        g = jax.jit(jax.grad(lambda w: self.nll(w, x, y)))(self.w)
        self.w = self.w - self.lr * g


x = jnp.array([[1.0, -1.0], [1.0, 0.5], [1.0, 2.0], [1.0, -2.0]])
y = jnp.array([0, 1, 1, 0])
clf = LogisticRegression()
for _ in range(12):
    clf.partial_fit(x, y)
print([round(v, 3) for v in clf.w.tolist()])
