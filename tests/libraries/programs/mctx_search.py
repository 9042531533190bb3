"""Tree search of mctx."""

import json

import jax
import jax.numpy as jnp
import mctx


def model(params, key, action, embedding):
    reward = jnp.sin(embedding + action)
    logits = jnp.stack([jnp.cos(embedding), jnp.sin(embedding), embedding * 0.1], -1)
    out = mctx.RecurrentFnOutput(
        reward=reward, discount=jnp.full_like(reward, 0.9), prior_logits=logits, value=reward * 2
    )
    return out, embedding + 0.3 * action


root = mctx.RootFnOutput(
    prior_logits=jnp.zeros((2, 3)), value=jnp.zeros(2), embedding=jnp.array([0.1, 0.7])
)
key = jax.random.PRNGKey(0)
found = {}
for name in ("muzero_policy", "gumbel_muzero_policy"):
    out = getattr(mctx, name)(None, key, root, model, num_simulations=12)
    found[name] = [out.action.tolist(), out.action_weights.ravel().tolist()]
print(json.dumps({k: [float(x) for part in v for x in part] for k, v in found.items()}))
