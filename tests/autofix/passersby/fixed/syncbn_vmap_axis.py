# One correct fixed version of syncbn_vmap_axis.py
"""Batch normalisation written per example, statistics shared across the batch."""
import jax
import jax.numpy as jnp


def batch_norm(x, scale, shift, axis="batch"):
    mean = jax.lax.pmean(x, axis)
    var = jax.lax.pmean((x - mean) ** 2, axis)
    return scale * (x - mean) * jax.lax.rsqrt(var + 1e-5) + shift


def network(params, x):
    h = x @ params["w1"]
    h = jax.nn.relu(batch_norm(h, params["scale"], params["shift"]))
    return h @ params["w2"]


@jax.jit
def forward(params, xs):
    return jax.vmap(network, in_axes=(None, 0), axis_name="batch")(params, xs)


params = {
    "w1": jnp.linspace(-1.0, 1.0, 12).reshape(3, 4),
    "scale": jnp.ones(4),
    "shift": jnp.full(4, 0.1),
    "w2": jnp.array([1.0, -1.0, 0.5, 0.25]),
}
xs = jnp.cos(jnp.arange(18.0)).reshape(6, 3)
out = forward(params, xs)
print([round(float(v), 3) for v in out])
