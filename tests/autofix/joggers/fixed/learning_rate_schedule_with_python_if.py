import jax
import jax.numpy as jnp

WARMUP = 4.0
target = jnp.array([1.0, -2.0, 0.5])


def learning_rate(step, peak):
    warm = peak * step / WARMUP
    decayed = peak * jnp.sqrt(WARMUP / step)
    return jnp.where(step < WARMUP, warm, decayed)


@jax.jit
def train_step(w, step):
    g = jax.grad(lambda w: jnp.sum((w - target) ** 2))(w)
    return w - learning_rate(step, 0.2) * g


w = jnp.zeros(3)
for step in range(1, 8):
    w = train_step(w, step)
print(w.round(3).tolist())
