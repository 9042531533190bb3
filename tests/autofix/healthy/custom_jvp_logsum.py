import jax
import jax.numpy as jnp


@jax.custom_jvp
def log1pexp(x):
    return jnp.log1p(jnp.exp(-jnp.abs(x))) + jnp.maximum(x, 0.0)


@log1pexp.defjvp
def log1pexp_jvp(primals, tangents):
    (x,), (t,) = primals, tangents
    return log1pexp(x), jax.nn.sigmoid(x) * t


x = jnp.array([-100.0, 0.0, 3.0, 100.0])
print([round(float(v), 3) for v in log1pexp(x)])
print([round(float(v), 3) for v in jax.vmap(jax.grad(log1pexp))(x)])
print([round(float(v), 3) for v in jnp.diag(jax.jacfwd(log1pexp)(x))])
