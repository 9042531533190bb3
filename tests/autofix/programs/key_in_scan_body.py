# error: KeyReuseError
# line: 13
# depends: -
# fix: split_key
# result: (3,)
# grade: ran
import jax
import jax.numpy as jnp


def walk(key, x, n):
    def body(x, i):
        return x + jax.random.normal(key), jax.random.uniform(key)

    return jax.lax.scan(body, x, jnp.arange(n))


print(jax.jit(walk, static_argnums=2)(jax.random.key(0), 0.0, 3)[1].shape)
