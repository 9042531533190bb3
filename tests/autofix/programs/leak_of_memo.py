# error: UnexpectedTracerError
# line: 19
# depends: -
# fix: concrete_constant
# result: (2, 2) ; 4.1549
# grade: ran
import jax
import jax.numpy as jnp

_TABLES = {}


def table(n):
    try:
        return _TABLES[n]
    except KeyError:
        decay = jnp.exp(-jnp.arange(n) / n)
        out = jnp.stack([jnp.sin(decay), jnp.cos(decay)])
        _TABLES[n] = out
        return out


class Encoder:
    def __call__(self, x):
        return x @ table(x.shape[-1]).T


encoder = Encoder()
print(jax.vmap(jax.jit(encoder))(jnp.ones((2, 3))).shape)
print(round(float(encoder(jnp.ones(3)).sum()), 4))
