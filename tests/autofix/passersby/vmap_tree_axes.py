# error: ValueError
# line: 35
# also-line: 32
# depends: -
# fix: in_axes
# fixed-file: fixed/vmap_tree_axes.py
# result: (5, 4) ; spread positive True

"""Ensemble of small regressors evaluated on one shared batch."""
import jax
import jax.numpy as jnp


def predict(params, x):
    hidden = jnp.tanh(x @ params["w1"] + params["b1"])
    return hidden @ params["w2"] + params["scale"]


def init_member(key, n_in, n_hidden):
    k1, k2 = jax.random.split(key)
    return {
        "w1": jax.random.normal(k1, (n_in, n_hidden)),
        "b1": jnp.zeros(n_hidden),
        "w2": jax.random.normal(k2, (n_hidden,)) / n_hidden,
    }


members = jax.vmap(lambda k: init_member(k, 3, 6))(jax.random.split(jax.random.key(2), 5))
members["scale"] = jnp.float32(0.25)

axes = {"w1": 0, "b1": 0, "w2": 0}
ensemble = jax.jit(jax.vmap(predict, in_axes=(axes, None)))

x = jnp.linspace(-1.0, 1.0, 12).reshape(4, 3)
out = ensemble(members, x)
print(out.shape)
print("spread positive", bool(out.std(axis=0).min() > 0))
