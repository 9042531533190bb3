import jax
import jax.numpy as jnp


def soft_update(target, online, tau=0.1):
    return jax.tree.map(lambda t, o: (1 - tau) * t + tau * o, target, online)


online = (jnp.ones((2, 2)), jnp.ones(2))
target = (jnp.zeros((2, 2)), jnp.zeros(2))
target = soft_update(target, online)
print(target[1].round(3).tolist())
