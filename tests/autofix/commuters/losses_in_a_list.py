# error: UnexpectedTracerError
# expect: UnexpectedTracerError | SideEffectWarning
# line: 23
# depends: -
# fix: any
# result: [3.6499998569488525, 2.0734000205993652, 1.2223999500274658, 0.7282999753952026, 0.4350999891757965] 2.1702

import jax
import jax.numpy as jnp

inputs = jnp.linspace(-1.0, 1.0, 16)
targets = 3.0 * inputs - 0.5
losses = []


def loss(weights):
    return jnp.mean((weights["a"] * inputs + weights["b"] - targets) ** 2)


@jax.jit
def improve(weights):
    value, slopes = jax.value_and_grad(loss)(weights)
    losses.append(value)
    return jax.tree.map(lambda w, s: w - 0.3 * s, weights, slopes)


weights = {"a": 0.0, "b": 0.0}
for _ in range(5):
    weights = improve(weights)
print(jnp.stack(losses).round(4).tolist(), round(float(weights["a"]), 4))
