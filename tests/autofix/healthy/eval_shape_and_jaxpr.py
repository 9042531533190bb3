import jax
import jax.numpy as jnp


def model(params, x):
    for w in params:
        x = jax.nn.relu(x @ w)
    return x


def init(key):
    keys = jax.random.split(key, 2)
    return [jax.random.normal(keys[0], (3, 5)), jax.random.normal(keys[1], (5, 2))]


shapes = jax.eval_shape(init, jax.random.key(0))
out = jax.eval_shape(model, shapes, jax.ShapeDtypeStruct((7, 3), jnp.float32))
jaxpr = jax.make_jaxpr(model)(init(jax.random.key(0)), jnp.ones((7, 3)))
print([s.shape for s in shapes], out.shape, out.dtype.name)
print(len(jaxpr.jaxpr.invars), len(jaxpr.jaxpr.outvars))
