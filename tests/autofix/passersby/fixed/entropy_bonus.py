# One correct fixed version of entropy_bonus.py
import jax
import jax.numpy as jnp


def masked_softmax(logits, legal):
    z = jnp.where(legal, logits, -1e9)
    return jax.nn.softmax(z)


def entropy(probs):
    safe = jnp.where(probs > 0, probs, 1.0)
    return -jnp.sum(jnp.where(probs > 0, probs * jnp.log(safe), 0.0))


def objective(logits, legal, advantage, action, beta=0.01):
    probs = masked_softmax(logits, legal)
    policy = -jnp.log(probs[action]) * advantage
    return policy - beta * entropy(probs)


@jax.jit
def update(logits, legal, advantage, action):
    g = jax.grad(objective)(logits, legal, advantage, action)
    return logits - 0.5 * g


logits = jnp.array([0.2, -0.1, 0.4, 0.0])
legal = jnp.array([True, True, False, True])
for advantage, action in [(1.0, 0), (-0.5, 1), (2.0, 3)]:
    logits = update(logits, legal, advantage, action)
print([round(float(v), 4) for v in logits])
