# error: none
# expect: none
# result: epoch 0 loss 2.000 ; epoch 1 loss 1.556 ; epoch 2 loss 1.111 ; epoch 3 loss 0.667 ; decreasing True ; [1.333, 1.0]

import jax
import jax.numpy as jnp


def loss(w, x, y):
    return jnp.mean(jnp.abs(x @ w - y))


@jax.jit
def train(w, x, y):
    def epoch(w, i):
        value, g = jax.value_and_grad(loss)(w, x, y)
        jax.debug.print("epoch {i} loss {value:.3f}", i=i, value=value, ordered=True)
        return w - 0.5 * g, value

    return jax.lax.scan(epoch, w, jnp.arange(4))


x = jnp.array([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]])
w, values = train(jnp.zeros(2), x, jnp.array([2.0, 1.0, 3.0]))
jax.effects_barrier()
print("decreasing", bool(jnp.all(jnp.diff(values) < 0)))
print([round(float(v), 3) for v in w])
