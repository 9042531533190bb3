# error: none
# expect: NaNGradientWarning
# line: 20
# depends: -
# fix: any
# result: 0.6101 ; 0.5466 ; 0.4887 ; [0.098, -0.129, 0.231]

import jax
import jax.numpy as jnp

features = jnp.array([[1.0, 0.5], [-0.3, 0.8], [0.6, -1.2]])
allowed = jnp.array([[True, True, False], [True, False, True], [True, True, True]])
advantages = jnp.array([0.5, -0.2, 1.0])
taken = jnp.array([0, 2, 1])


def objective(weights):
    logits = jnp.where(allowed, features @ weights, -jnp.inf)
    probs = jax.nn.softmax(logits, axis=-1)
    entropy = -jnp.sum(jnp.where(probs > 0, probs * jnp.log(probs), 0.0), axis=-1)
    chosen = jnp.log(jnp.take_along_axis(probs, taken[:, None], axis=-1)[:, 0])
    return -jnp.mean(chosen * advantages + 0.01 * entropy)


@jax.jit
def improve(weights):
    loss, grads = jax.value_and_grad(objective)(weights)
    return weights - 0.3 * grads, loss


weights = jnp.array([[0.1, -0.2, 0.3], [0.0, 0.4, -0.1]])
for _ in range(3):
    weights, loss = improve(weights)
    print(round(float(loss), 4))
print([round(float(w), 3) for w in weights[0]])
