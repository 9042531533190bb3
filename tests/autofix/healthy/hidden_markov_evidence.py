import jax
import jax.numpy as jnp
from jax.nn import logsumexp


def evidence(params, seen):
    move = jax.nn.log_softmax(params["move"], axis=1)
    emit = jax.nn.log_softmax(params["emit"], axis=1)

    def step(alpha, symbol):
        alpha = logsumexp(alpha[:, None] + move, axis=0) + emit[:, symbol]
        return alpha, None

    start = jnp.full(move.shape[0], -jnp.log(move.shape[0])) + emit[:, seen[0]]
    alpha, _ = jax.lax.scan(step, start, seen[1:])
    return logsumexp(alpha)


@jax.jit
def ascend(params, seen):
    grads = jax.grad(evidence)(params, seen)
    return jax.tree.map(lambda p, g: p + 0.1 * g, params, grads)


seen = jnp.array([0, 0, 0, 1, 1, 1, 0, 0, 1, 1, 1, 1])
key_move, key_emit = jax.random.split(jax.random.key(0))
params = {
    "move": jax.random.normal(key_move, (2, 2)),
    "emit": jax.random.normal(key_emit, (2, 2)),
}
before = evidence(params, seen)
for _ in range(40):
    params = ascend(params, seen)
print(bool(evidence(params, seen) > before))
