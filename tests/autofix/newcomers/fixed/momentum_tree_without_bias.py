import jax
import jax.numpy as jnp


def loss(params, x, y):
    return jnp.mean((x @ params["w"] + params["b"] - y) ** 2)


class SGDMomentum:
    def __init__(self, params, lr=0.05, beta=0.8):
        self.lr, self.beta = lr, beta
        self.m = {k: jnp.zeros_like(v) for k, v in params.items()}

    def apply(self, params, grads):
        self.m = jax.tree.map(lambda m, g: self.beta * m + g, self.m, grads)
        return jax.tree.map(lambda p, m: p - self.lr * m, params, self.m)


x = jnp.array([[0.0, 1.0], [1.0, 0.0], [1.0, 1.0], [2.0, 1.0]])
y = x @ jnp.array([2.0, -1.0]) + 0.5
params = {"w": jnp.zeros(2), "b": jnp.array(0.0)}
opt = SGDMomentum(params)
for _ in range(500):
    params = opt.apply(params, jax.grad(loss)(params, x, y))
print(params["w"].round(2).tolist(), round(float(params["b"]), 2))
