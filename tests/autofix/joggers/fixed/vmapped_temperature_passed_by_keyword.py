import jax
import jax.numpy as jnp


def perplexity(logits, target, temperature):
    logp = jax.nn.log_softmax(logits / temperature)
    return jnp.exp(-logp[target])


logits = jnp.array([[2.0, 0.5, -1.0], [0.1, 0.0, 0.3], [-1.0, 3.0, 1.0]])
targets = jnp.array([0, 2, 2])

batched = jax.vmap(perplexity, in_axes=(0, 0, None))
sharp = batched(logits, targets, 0.5)
print(sharp.round(3).tolist())
print(round(float(jnp.median(sharp)), 3))
