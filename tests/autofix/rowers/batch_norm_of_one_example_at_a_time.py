# error: none
# expect: AmbiguousAxesWarning | BroadcastWarning
# line: 34
# depends: -
# fix: any
# result: [0.0, 0.0, 0.0, 0.0] ; [1.0, 1.0, 1.0, 1.0]

import jax
import jax.numpy as jnp

EPS = 1e-5


def batch_norm(x, gamma, beta):
    mean = x.mean(axis=0)
    var = x.var(axis=0)
    return gamma * (x - mean) / jnp.sqrt(var + EPS) + beta


def layer(params, x):
    h = x @ params["w"] + params["b"]
    h = batch_norm(h, params["gamma"], params["beta"])
    return h


features, units = 3, 4
params = {
    "w": jnp.linspace(-1.0, 1.0, features * units).reshape(features, units),
    "b": jnp.arange(4.0),
    "gamma": jnp.ones(units),
    "beta": jnp.zeros(units),
}
x = jax.random.normal(jax.random.key(5), (16, features))
out = jax.jit(jax.vmap(layer, in_axes=(None, 0)))(params, x)
print((jnp.abs(out.mean(axis=0)).round(2)).tolist())
print(out.std(axis=0).round(2).tolist())
