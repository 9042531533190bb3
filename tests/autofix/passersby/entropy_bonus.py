# error: none
# expect: NaNGradientWarning | FloatingPointError
# jax-differs: jax returns nan gradients
# line: 20
# depends: -
# fix: double_where
# fixed-file: fixed/entropy_bonus.py
# result: [0.0817, -0.6225, 0.4, 0.6408]

import jax
import jax.numpy as jnp


def masked_softmax(logits, legal):
    z = jnp.where(legal, logits, -1e9)
    return jax.nn.softmax(z)


def entropy(probs):
    return -jnp.sum(jnp.where(probs > 0, probs * jnp.log(probs), 0.0))


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
