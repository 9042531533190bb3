import jax
import jax.numpy as jnp


def sample(key, logits):
    soft = jax.nn.softmax((logits + jax.random.gumbel(key, logits.shape)) / 0.5)
    hard = jax.nn.one_hot(jnp.argmax(soft), logits.shape[0])
    return soft + jax.lax.stop_gradient(hard - soft)


def cost(logits, keys):
    prices = jnp.array([3.0, 1.0, 2.0])
    return jnp.mean(jax.vmap(sample, in_axes=(0, None))(keys, logits) @ prices)


logits = jnp.zeros(3)
key = jax.random.key(0)
descend = jax.jit(jax.grad(cost))
for step in range(60):
    logits = logits - 0.5 * descend(logits, jax.random.split(jax.random.fold_in(key, step), 64))
print(int(jnp.argmax(logits)))
