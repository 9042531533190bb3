import jax
import jax.numpy as jnp


def ordinal_logits(user, item, cuts):
    affinity = jnp.sum(user * item, axis=-1, keepdims=True)
    return jnp.concatenate([jnp.zeros_like(affinity), affinity - cuts], axis=-1)


def nll(params, users, items, stars):
    logits = ordinal_logits(params["u"][users], params["v"][items], params["cuts"])
    logp = jax.nn.log_softmax(logits)
    picked = jnp.take_along_axis(logp, stars[:, None] - 1, axis=1)
    return -jnp.nanmean(picked)


cuts = jnp.array([-1.0, 0.0, 1.0, 2.0])
params = {"u": jnp.ones((3, 2)), "v": 0.5 * jnp.ones((4, 2)), "cuts": cuts}
stars = jnp.array([5, 3, 1, 4])
print(round(float(nll(params, jnp.array([0, 1, 2, 0]), jnp.array([0, 1, 2, 3]), stars)), 4))
