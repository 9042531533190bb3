import jax
import jax.numpy as jnp

MEANS = jnp.array([0.1, 0.9, 0.4])


def surrogate(logits, actions, rewards):
    log_probs = jax.nn.log_softmax(logits)[actions]
    advantage = jax.lax.stop_gradient(rewards - rewards.mean())
    return -jnp.mean(log_probs * advantage)


@jax.jit
def step(logits, key):
    pick, noise = jax.random.split(key)
    actions = jax.random.categorical(pick, logits, shape=(64,))
    rewards = MEANS[actions] + 0.1 * jax.random.normal(noise, (64,))
    grads = jax.grad(surrogate)(logits, actions, rewards)
    return logits - 2.0 * grads, rewards.mean()


logits, rewards = jax.lax.scan(step, jnp.zeros(3), jax.random.split(jax.random.key(0), 150))
print(int(jnp.argmax(logits)), bool(rewards[-10:].mean() > 0.7))
