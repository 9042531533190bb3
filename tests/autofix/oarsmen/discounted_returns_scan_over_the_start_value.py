# error: IndexError
# line: 23
# depends: -
# fix: any
# result: [2.52, 1.93, 1.71, 2.0] -1.51

import jax
import jax.numpy as jnp

GAMMA, LAM = 0.9, 0.8


def gae(rewards, values, dones):
    """Generalized advantage estimation for one trajectory."""
    next_values = jnp.append(values[1:], 0.0)
    deltas = rewards + GAMMA * next_values * (1.0 - dones) - values

    def backward(acc, inp):
        delta, done = inp
        acc = delta + GAMMA * LAM * (1.0 - done) * acc
        return acc, acc

    _, adv = jax.lax.scan(backward, (deltas, dones), jnp.float32(0.0), reverse=True)
    return adv, adv + values


@jax.jit
def batch_targets(batch):
    adv, ret = jax.vmap(gae)(batch["rewards"], batch["values"], batch["dones"])
    adv = (adv - adv.mean()) / (adv.std() + 1e-8)
    return adv, ret


batch = {
    "rewards": jnp.array([[0.0, 0.0, 1.0, 0.0], [1.0, 0.5, 0.0, 2.0]]),
    "values": jnp.array([[0.3, 0.5, 0.8, 0.2], [1.0, 0.7, 1.1, 1.5]]),
    "dones": jnp.array([[0.0, 0.0, 1.0, 0.0], [0.0, 0.0, 0.0, 1.0]]),
}
adv, ret = batch_targets(batch)
print([round(v, 2) for v in ret[1].tolist()], round(float(adv[0, 3]), 2))
