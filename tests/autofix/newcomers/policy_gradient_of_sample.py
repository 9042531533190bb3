# error: none
# expect: ZeroGradientWarning
# jax-differs: jax silently learns nothing
# line: 18
# also-line: 24
# depends: -
# fix: smooth_surrogate
# result: 1 True

import jax
import jax.numpy as jnp

REWARDS = jnp.array([0.0, 1.0, 0.2])


def expected_reward(logits, key):
    action = jax.random.categorical(key, logits)
    return REWARDS[action]


def train(logits, key, steps=200, lr=0.3):
    value_grad = jax.jit(jax.grad(expected_reward))
    for k in jax.random.split(key, steps):
        logits = logits + lr * value_grad(logits, k)
    return logits


logits = train(jnp.zeros(3), jax.random.key(4))
probs = jax.nn.softmax(logits)
print(int(probs.argmax()), bool(probs[1] > 0.8))
