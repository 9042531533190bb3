# error: TypeError
# line: 23
# depends: w
# fix: debug_print
# fixed-file: fixed/loss_in_a_sentence.py
# result: loss 3.5658 ; loss 2.0519 ; loss 1.2271 ; [1.582, -0.468]
# family: concretization/format

import jax
import jax.numpy as jnp

x = jnp.linspace(-1.0, 1.0, 20)
y = 3.0 * x - 0.5


def loss(w):
    return jnp.mean((w[0] * x + w[1] - y) ** 2)


@jax.jit
def train_step(w):
    value, slope = jax.value_and_grad(loss)(w)
    print(f"loss {value:.4f}")
    return w - 0.3 * slope


w = jnp.zeros(2)
for _ in range(3):
    w = train_step(w)
    jax.effects_barrier()
print([round(float(v), 3) for v in w])
