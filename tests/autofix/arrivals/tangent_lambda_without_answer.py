# error: TypeError
# line: 19
# also-line: 17
# depends: -
# fix: custom_rule
# result: 0.7864

import jax
import jax.numpy as jnp


@jax.custom_jvp
def softclip(x, limit):
    return limit * jnp.tanh(x / limit)


softclip.defjvps(lambda t, x, limit: t / jnp.cosh(x / limit) ** 2, None)

grads = jax.grad(lambda x: softclip(x, 2.0))(1.0)
print(round(float(grads), 4))
