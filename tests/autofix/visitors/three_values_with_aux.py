# error: TypeError
# expect: TypeError | ValueError
# line: 22
# also-line: 27
# depends: -
# fix: return_pair
# fixed-file: fixed/three_values_with_aux.py
# result: 0.4077 0.0029
# family: gradient/aux

import jax
import jax.numpy as jnp

x = jnp.linspace(-2.0, 2.0, 21)
y = jnp.abs(x)


def loss(params):
    prediction = jnp.log(1.0 + jnp.exp(params["a"] * x)) + params["b"]
    fit = jnp.mean((prediction - y) ** 2)
    decay = 0.01 * (params["a"] ** 2 + params["b"] ** 2)
    return fit + decay, fit, decay


@jax.jit
def train_step(params):
    (value, (fit, decay)), slopes = jax.value_and_grad(loss, has_aux=True)(params)
    return jax.tree.map(lambda p, g: p - 0.1 * g, params, slopes), fit, decay


params = {"a": jnp.array(1.0), "b": jnp.array(0.0)}
for _ in range(20):
    params, fit, decay = train_step(params)
print(round(float(fit), 4), round(float(decay), 4))
