# error: TypeError
# expect: TypeError
# line: 23
# also-line: 22, 25
# depends: -
# fix: unpack_result
# result: 7 [0.99, 1.98, 2.98]

import jax
import jax.numpy as jnp

target = jnp.array([1.0, 2.0, 3.0])


def loss(w):
    return jnp.sum((w - target) ** 2)


w = jnp.zeros(3)
steps = 0
objective = jax.jit(jax.value_and_grad(loss))
value = objective(w)
while value > 1e-3:
    w = w - 0.25 * jax.grad(loss)(w)
    value = objective(w)
    steps += 1
print(steps, [round(float(v), 2) for v in w])
