# One correct fixed version of ensemble_shares_no_axis.py
import jax
import jax.numpy as jnp


def member_output(members, x):
    return jnp.tanh(x @ members["w"]) @ members["v"]


@jax.jit
def disagreement(members, x):
    """The variance over the members, for a batch that all of them see."""
    outputs = jax.vmap(member_output, in_axes=(0, None))(members, x)
    return outputs.var(axis=0)


members = {
    "w": jnp.arange(24.0).reshape(3, 2, 4) / 24.0,
    "v": jnp.linspace(-1.0, 1.0, 12).reshape(3, 4),
}
x = jnp.array([[1.0, 0.5], [0.0, -1.0], [2.0, 2.0], [0.3, 0.1], [1.0, -1.0]])
print([round(float(v), 4) for v in disagreement(members, x)])
