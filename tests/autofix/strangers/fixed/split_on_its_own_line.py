# One correct fixed version of split_on_its_own_line.py
import jax
import jax.numpy as jnp


def perturb(key, x):
    return x + 0.1 * jax.random.normal(key, x.shape)


key = jax.random.key(3)
x = jnp.zeros(4)
jumps = []
for _ in range(3):
    key, subkey = jax.random.split(key)
    new = perturb(subkey, x)
    jumps.append(new - x)
    x = new
same = jnp.allclose(jumps[0], jumps[1]) | jnp.allclose(jumps[1], jumps[2], atol=1e-6)
print("all rounds alike:", bool(same))
