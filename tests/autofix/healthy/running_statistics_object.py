import jax
import jax.numpy as jnp


class RunningMoments:
    """Keeps its numbers outside of what is compiled."""

    def __init__(self):
        self.count = 0
        self.mean = jnp.zeros(2)
        self.spread = jnp.zeros(2)

    def update(self, batch):
        self.count += batch.shape[0]
        self.mean, self.spread = merge(self.mean, self.spread, self.count, batch)


@jax.jit
def merge(mean, spread, count, batch):
    share = batch.shape[0] / count
    shift = batch.mean(axis=0) - mean
    spread = (1 - share) * spread + share * batch.var(axis=0) + share * (1 - share) * shift**2
    return mean + share * shift, spread


data = jnp.sin(jnp.arange(60.0)).reshape(6, 5, 2)
moments = RunningMoments()
for batch in data:
    moments.update(batch)
flat = data.reshape(-1, 2)
print(moments.count, bool(jnp.allclose(moments.mean, flat.mean(axis=0), atol=1e-5)))
print(bool(jnp.allclose(moments.spread, flat.var(axis=0), atol=1e-5)))
