import jax
import jax.numpy as jnp


def init(key):
    return {"w": jax.random.normal(key, (3, 2)), "b": jnp.zeros(2)}


key = jax.random.key(0)
online = init(key)
# the target network starts as the same network, hence the same key
target = init(jax.random.clone(key))


@jax.jit
def blend(target, online, rate):
    return jax.tree.map(lambda t, o: (1.0 - rate) * t + rate * o, target, online)


online = jax.tree.map(lambda p: p + 1.0, online)
for _ in range(10):
    target = blend(target, online, 0.5)
print(bool(jnp.allclose(target["w"], online["w"], atol=1e-2)))
