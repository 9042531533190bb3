# One correct fixed version of vmap_scalar_temperature.py
import jax
import jax.numpy as jnp


def gumbel_argmax(key, logits, temperature):
    noise = jax.random.gumbel(key, logits.shape)
    return jnp.argmax(logits / temperature + noise)


class Sampler:
    def __init__(self, seed, temperature=1.0):
        self.key = jax.random.key(seed)
        self.temperature = jnp.asarray(temperature)
        self._draw = jax.jit(jax.vmap(gumbel_argmax, in_axes=(0, 0, None)))

    def __call__(self, logits):
        self.key, sub = jax.random.split(self.key)
        keys = jax.random.split(sub, logits.shape[0])
        return self._draw(keys, logits, self.temperature)


def frequencies(sampler, logits, rounds):
    draws = jnp.stack([sampler(logits) for _ in range(rounds)])
    return jax.nn.one_hot(draws, logits.shape[-1]).mean(axis=0)


logits = jnp.log(jnp.array([[0.7, 0.2, 0.1], [0.05, 0.05, 0.9]]))
freq = frequencies(Sampler(11, temperature=0.5), logits, 60)
print(freq.shape, [int(i) for i in freq.argmax(axis=1)])
