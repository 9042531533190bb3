# error: ValueError
# line: 20
# depends: members, x
# fix: in_axes
# fixed-file: fixed/ensemble_shares_no_axis.py
# result: [1.5729, 1.338, 3.1789, 0.1941, 0.1539]
# family: 3/ensemble-in-axes

import jax
import jax.numpy as jnp


def member_output(members, x):
    return jnp.tanh(x @ members["w"]) @ members["v"]


@jax.jit
def disagreement(members, x):
    """The variance over the members, for a batch that all of them see."""
    outputs = jax.vmap(member_output)(members, x)
    return outputs.var(axis=0)


members = {
    "w": jnp.arange(24.0).reshape(3, 2, 4) / 24.0,
    "v": jnp.linspace(-1.0, 1.0, 12).reshape(3, 4),
}
x = jnp.array([[1.0, 0.5], [0.0, -1.0], [2.0, 2.0], [0.3, 0.1], [1.0, -1.0]])
print([round(float(v), 4) for v in disagreement(members, x)])
