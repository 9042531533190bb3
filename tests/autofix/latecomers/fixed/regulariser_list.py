# One correct fixed version of regulariser_list.py
import jax
import jax.numpy as jnp


def make_model(l2):
    def dense(w, x):
        return jnp.tanh(x @ w)

    def apply(params, x):
        for w in params[:-1]:
            x = dense(w, x)
        return x @ params[-1]

    def penalty(params):
        return sum(l2 * jnp.sum(w ** 2) for w in params[:-1])

    return apply, penalty


apply, penalty = make_model(0.01)


def data_loss(params, x, y):
    return jnp.mean((apply(params, x) - y) ** 2)


x = jnp.linspace(-1, 1, 16).reshape(8, 2)
y = x[:, :1] * x[:, 1:]
params = [jnp.eye(2), jnp.ones((2, 4)) * 0.3, jnp.ones((4, 1)) * 0.1]

for _ in range(3):
    loss, grads = jax.value_and_grad(data_loss)(params, x, y)
    params = jax.tree.map(lambda p, g: p - 0.1 * g, params, grads)
print("loss", round(float(loss), 4))
print("penalty", round(float(penalty(params)), 4))
