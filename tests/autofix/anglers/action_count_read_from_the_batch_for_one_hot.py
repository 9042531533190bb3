# error: ConcretizationTypeError
# line: 19
# also-line: 20
# depends: -
# fix: any
# result: 1.1332 ; 0.979 ; 0.8502 ; 0.7424

import jax
import jax.numpy as jnp

observations = jnp.sin(jnp.arange(20, dtype=jnp.float32)).reshape(5, 4)
actions = jnp.array([0, 2, 1, 2, 0])
returns = jnp.array([1.0, 0.5, -0.3, 2.0, 0.1])
weights = jnp.cos(jnp.arange(12, dtype=jnp.float32)).reshape(4, 3)


def q_loss(weights, observations, actions, returns):
    q_values = observations @ weights
    n_actions = jnp.max(actions) + 1
    chosen = jax.nn.one_hot(actions, n_actions)
    predicted = jnp.sum(q_values * chosen, axis=-1)
    return jnp.mean((predicted - returns) ** 2)


@jax.jit
def update(weights, observations, actions, returns):
    loss, grads = jax.value_and_grad(q_loss)(weights, observations, actions, returns)
    return weights - 0.1 * grads, loss


for _ in range(4):
    weights, loss = update(weights, observations, actions, returns)
    print(round(float(loss), 4))
