# One correct fixed version of scanned_dict_with_a_number.py
import jax
import jax.numpy as jnp


def cool(temperature, inputs):
    temperature = temperature - inputs["rate"] * (temperature - inputs["ambient"])
    return temperature, temperature


inputs = {"ambient": jnp.array([20.0, 18.0, 15.0]), "rate": jnp.full(3, 0.5)}
last, path = jax.lax.scan(cool, 90.0, inputs)
print(round(float(last), 3), path.shape)
