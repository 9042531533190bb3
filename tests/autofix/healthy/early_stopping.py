import jax
import jax.numpy as jnp


def loss(w, x, y):
    return jnp.mean((x @ w - y) ** 2)


@jax.jit
def epoch(w, x, y):
    def step(w, _):
        return w - 0.05 * jax.grad(loss)(w, x, y), None

    return jax.lax.scan(step, w, None, length=20)[0]


key_x, key_e = jax.random.split(jax.random.key(1))
x = jax.random.normal(key_x, (60, 5))
y = x @ jnp.arange(5.0) + 0.5 * jax.random.normal(key_e, (60,))
train, valid = (x[:30], y[:30]), (x[30:], y[30:])

w, best, patience = jnp.zeros(5), float("inf"), 3
epochs = 0
while epochs < 30:
    epochs += 1
    w = epoch(w, *train)
    score = float(loss(w, *valid))  # once an epoch
    if score < best - 1e-4:
        best, patience = score, 3
    else:
        patience -= 1
        if patience == 0:
            break
print(epochs < 30, best < 1.0)
