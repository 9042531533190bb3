# One correct fixed version of tangent_lambda_without_answer.py
import jax
import jax.numpy as jnp


@jax.custom_jvp
def softclip(x, limit):
    return limit * jnp.tanh(x / limit)


softclip.defjvps(lambda t, ans, x, limit: t / jnp.cosh(x / limit) ** 2, None)

grads = jax.grad(lambda x: softclip(x, 2.0))(1.0)
print(round(float(grads), 4))
