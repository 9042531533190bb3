# One correct fixed version of custom_jvp_without_rule.py
import jax
import jax.numpy as jnp


@jax.custom_jvp
def softplus(x):
    return jnp.logaddexp(x, 0.0)


@softplus.defjvp
def softplus_jvp(primals, tangents):
    (x,), (x_dot,) = primals, tangents
    return softplus(x), jax.nn.sigmoid(x) * x_dot


def rate(weights, features):
    return softplus(features @ weights).sum()


features = jnp.array([[1.0, 0.5], [0.2, -1.0]])
grads = jax.grad(rate)(jnp.array([0.3, -0.4]), features)
print([round(float(g), 4) for g in grads])
