import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh, PartitionSpec as P

mesh = Mesh(np.array(jax.devices()[:1]), ("envs",))
observations = jnp.sin(jnp.arange(24, dtype=jnp.float32)).reshape(8, 3)
actions = jnp.array([0, 1, 1, 0, 1, 0, 0, 1])
advantages = jnp.linspace(-1.0, 1.5, 8)
weights = jnp.array([[0.2, -0.1], [0.4, 0.3], [-0.5, 0.1]])


def policy_loss(weights, observations, actions, advantages):
    log_probs = jax.nn.log_softmax(observations @ weights)
    chosen = jnp.take_along_axis(log_probs, actions[:, None], axis=1)[:, 0]
    return jax.lax.pmean(-jnp.mean(chosen * advantages), "envs")


loss_and_grads = jax.shard_map(
    jax.value_and_grad(policy_loss),
    mesh=mesh,
    in_specs=(P(), P("envs"), P("envs"), P("envs")),
    out_specs=(P(), P()),
)


@jax.jit
def update(weights):
    loss, grads = loss_and_grads(weights, observations, actions, advantages)
    return weights - 0.5 * grads, loss


for _ in range(3):
    weights, loss = update(weights)
    print(round(float(loss), 4))
