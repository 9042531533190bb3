import jax
import jax.numpy as jnp


def moments(x):
    mean = jnp.mean(x)
    variance = jnp.mean((x - mean) ** 2)
    return mean, variance


x = jnp.array([1.0, 2.5, 4.0, 0.5])
(mean, variance), pullback = jax.vjp(moments, x)
(grad_sum,) = pullback((jnp.ones(()), jnp.ones(())))
print(round(float(mean), 3), round(float(variance), 3))
print(grad_sum.round(3).tolist())
check = jax.grad(lambda x: sum(moments(x)))(x)
print(bool(jnp.allclose(check, grad_sum)))
