# error: UnexpectedTracerError
# line: 25
# also-line: 17
# depends: -
# fix: any
# result: 0.506 [1.0, 0.6060000061988831, 0.18800000846385956]

import jax
import jax.numpy as jnp

losses = []


def train(w, data):
    def step(w, batch):
        value, grad = jax.value_and_grad(lambda w: jnp.mean((w * batch - 1.0) ** 2))(w)
        losses.append(value)
        return w - 0.1 * grad, None

    w, _ = jax.lax.scan(step, w, data)
    return w


w = train(jnp.array(0.0), jnp.array([[1.0, 2.0], [0.5, 1.0], [2.0, 1.0]]))
curve = jnp.stack(losses)
print(round(float(w), 3), curve.round(3).tolist())
