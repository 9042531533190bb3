# One correct fixed version of axes_of_batch_dict.py
import jax
import jax.numpy as jnp


def example_loss(state, batch):
    guess = jnp.dot(state["w"], batch["image"])
    return batch["weight"] * (guess - batch["label"]) ** 2


@jax.jit
def mean_loss(state, batch):
    axes = {"image": 0, "label": 0, "weight": 0}
    losses = jax.vmap(example_loss, in_axes=(None, axes))(state, batch)
    return losses.mean()


batch = {
    "image": jnp.arange(12.0).reshape(4, 3) / 6.0,
    "label": jnp.array([0.0, 1.0, 1.0, 0.0]),
    "weight": jnp.array([1.0, 2.0, 1.0, 0.5]),
}
print(round(float(mean_loss({"w": jnp.array([0.1, 0.2, -0.1])}, batch)), 4))
