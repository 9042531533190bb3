# One correct fixed version of loss_in_a_sentence.py
import jax
import jax.numpy as jnp

x = jnp.linspace(-1.0, 1.0, 20)
y = 3.0 * x - 0.5


def loss(w):
    return jnp.mean((w[0] * x + w[1] - y) ** 2)


@jax.jit
def train_step(w):
    value, slope = jax.value_and_grad(loss)(w)
    jax.debug.print("loss {:.4f}", value)
    return w - 0.3 * slope


w = jnp.zeros(2)
for _ in range(3):
    w = train_step(w)
    jax.effects_barrier()
print([round(float(v), 3) for v in w])
