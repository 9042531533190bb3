# error: none
# expect: ZeroGradientWarning | NonDifferentiableWarning | StopGradientWarning
# jax-differs: jax returns an all-zero gradient
# line: 20
# depends: -
# fix: soft_selection
# fixed-file: fixed/argmax_policy_zero_grad.py
# result: parameters moved: True

import jax
import jax.numpy as jnp


def scores(params, states):
    return jnp.tanh(states @ params["w"]) + params["b"]


def expected_cost(params, states, costs):
    s = scores(params, states)
    picked = jnp.argmax(s, axis=-1)
    choice = jax.nn.one_hot(picked, s.shape[-1])
    return jnp.mean(jnp.sum(choice * costs, axis=-1))


@jax.jit
def train(params, states, costs):
    value, grads = jax.value_and_grad(expected_cost)(params, states, costs)
    params = jax.tree.map(lambda p, g: p - 1.0 * g, params, grads)
    return params, value


states = jnp.array([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0], [-1.0, 0.5]])
costs = jnp.array([[0.0, 1.0, 2.0], [1.0, 0.0, 2.0], [2.0, 1.0, 0.0], [0.5, 1.0, 3.0]])
params = {"w": 0.1 * jnp.ones((2, 3)), "b": jnp.zeros(3)}
start = params
for _ in range(50):
    params, value = train(params, states, costs)
moved = jnp.abs(params["w"] - start["w"]).max()
print("parameters moved:", bool(moved > 1e-3))
