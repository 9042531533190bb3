"""Physics of brax: batched steps of a pendulum, another pipeline, rotations, a policy with its distribution."""

import json

import jax
import jax.numpy as jnp
from brax import envs, math
from brax.envs import training
from brax.training import distribution, networks

found = {}
env = envs.create("inverted_pendulum", backend="generalized", episode_length=20, batch_size=3)
state = jax.jit(env.reset)(jax.random.PRNGKey(0))
step = jax.jit(env.step)
for i in range(3):
    state = step(state, jnp.full((3, env.action_size), 0.3 * (i + 1)))
found["pendulum"] = [float(x) for x in jnp.ravel(state.obs)]
found["reward"] = state.reward.tolist()

env = envs.get_environment("inverted_pendulum", backend="spring")
state = jax.jit(env.reset)(jax.random.PRNGKey(1))
state = jax.jit(env.step)(state, jnp.array([0.5]))
found["spring"] = state.obs.tolist()

env = training.wrap(envs.get_environment("fast"), episode_length=8)
state = env.reset(jax.random.split(jax.random.PRNGKey(2), 2))
_, rewards = jax.lax.scan(
    lambda s, _: (lambda n: (n, n.reward + n.done))(env.step(s, jnp.zeros((2, 1)))), state, None, 10
)
found["fast"] = rewards.ravel().tolist()

quat = math.normalize(jnp.array([1.0, 0.2, -0.3, 0.5]))[0]
found["math"] = [*math.rotate(jnp.array([1.0, 2.0, 3.0]), quat).tolist()]
found["math"] += [float(x) for x in jnp.ravel(math.quat_to_3x3(quat))]

policy = networks.make_policy_network(4, 5, hidden_layer_sizes=(8,))
params = policy.init(jax.random.PRNGKey(3))
out = policy.apply(None, params, jnp.linspace(-1.0, 1.0, 5))
tanh = distribution.NormalTanhDistribution(event_size=2)
action = tanh.sample_no_postprocessing(out, jax.random.PRNGKey(4))
found["policy"] = [*out.tolist(), *action.tolist(), float(tanh.log_prob(out, action))]
found["entropy"] = [float(tanh.entropy(out, jax.random.PRNGKey(5)))]
print(json.dumps(found))
