"""Updates of rlax: temporal differences, returns, policy gradients, distributional values."""

import json

import jax
import jax.numpy as jnp
import rlax

keys = jax.random.split(jax.random.PRNGKey(0), 4)
q = jax.random.normal(keys[0], (5, 3))
q_next = jax.random.normal(keys[1], (5, 3))
rewards = jax.random.normal(keys[2], (5,))
discounts = jnp.full(5, 0.9)
actions = jnp.array([0, 2, 1, 1, 0])
values = q.max(1)

found = {
    "q_learning": jax.vmap(rlax.q_learning)(q, actions, rewards, discounts, q_next).tolist(),
    "double_q": jax.vmap(rlax.double_q_learning)(
        q, actions, rewards, discounts, q_next, q_next[::-1]
    ).tolist(),
    "sarsa": jax.vmap(rlax.expected_sarsa)(
        q, actions, rewards, discounts, q_next, jax.nn.softmax(q_next)
    ).tolist(),
    "lambda_returns": rlax.lambda_returns(rewards, discounts, values, 0.8).tolist(),
    "n_step": rlax.n_step_bootstrapped_returns(rewards, discounts, values, 2, 0.9).tolist(),
    "advantages": rlax.truncated_generalized_advantage_estimation(
        rewards[:-1], discounts[:-1], 0.95, values
    ).tolist(),
    "vtrace": rlax.vtrace(values, values[::-1], rewards, discounts, jnp.full(5, 0.7)).tolist(),
    "huber": rlax.huber_loss(rewards, 0.5).tolist(),
    "two_hot": rlax.transform_to_2hot(jnp.array([0.3, 1.7]), -2.0, 2.0, 9).tolist(),
    "signed_hyperbolic": rlax.signed_hyperbolic(rewards * 10).tolist(),
}


@jax.jit
def gradient(logits):
    def loss(logits):
        return rlax.policy_gradient_loss(
            logits, actions, rewards, jnp.ones(5)
        ) + 0.1 * rlax.entropy_loss(logits, jnp.ones(5))

    return jax.grad(loss)(logits)


found["policy_gradient"] = gradient(q).tolist()
atoms = jnp.linspace(-1.0, 1.0, 5)
found["categorical"] = float(
    rlax.categorical_td_learning(atoms, q[0, 0] * atoms, rewards[0], 0.9, atoms, -atoms)
)
found["quantile"] = float(
    rlax.quantile_regression_loss(jnp.sort(q[:, 0]), jnp.linspace(0.1, 0.9, 5), q_next[:, 0], 1.0)
)
policy = rlax.epsilon_greedy(0.1)
found["probabilities"] = policy.probs(q).tolist()
found["draws"] = jax.vmap(policy.sample, in_axes=(0, 0))(jax.random.split(keys[3], 5), q).tolist()
print(json.dumps(found))
