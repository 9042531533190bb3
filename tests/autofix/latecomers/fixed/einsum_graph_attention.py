# One correct fixed version of einsum_graph_attention.py
# One graph attention layer on a four-node path graph
import jax
import jax.numpy as jnp

ADJ = jnp.array([
    [1, 1, 0, 0],
    [1, 1, 1, 0],
    [0, 1, 1, 1],
    [0, 0, 1, 1],
], dtype=bool)


def edge_scores(h, a_src, a_dst):
    src = jnp.einsum("nhf,hf->nh", h, a_src)
    dst = jnp.einsum("nhf,hf->nh", h, a_dst)
    return jax.nn.leaky_relu(src[:, None, :] + dst[None, :, :], 0.2)


@jax.jit
def gat(x, w, a_src, a_dst):
    h = jnp.einsum("ni,ihf->nhf", x, w)
    e = edge_scores(h, a_src, a_dst)
    e = jnp.where(ADJ[..., None], e, -1e9)
    alpha = jax.nn.softmax(e, axis=1)
    return jnp.einsum("nmh,mhf->nhf", alpha, h)


x = jnp.eye(4)[:, :3] + 0.1
w = jnp.linspace(-1.0, 1.0, 3 * 2 * 5).reshape(3, 2, 5)
a_src = jnp.linspace(0.0, 1.0, 10).reshape(2, 5)
a_dst = jnp.linspace(1.0, 0.0, 10).reshape(2, 5)
out = gat(x, w, a_src, a_dst)
print(out.shape)
print(round(float(out[0, 0, 0]), 4), round(float(jnp.abs(out).sum()), 3))
