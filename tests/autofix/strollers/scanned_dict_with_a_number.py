# error: ValueError
# expect: ValueError | TypeError
# line: 18
# depends: -
# fix: close_over
# result: 25.75 (3,)

import jax
import jax.numpy as jnp


def cool(temperature, inputs):
    temperature = temperature - inputs["rate"] * (temperature - inputs["ambient"])
    return temperature, temperature


inputs = {"ambient": jnp.array([20.0, 18.0, 15.0]), "rate": 0.5}
last, path = jax.lax.scan(cool, 90.0, inputs)
print(round(float(last), 3), path.shape)
