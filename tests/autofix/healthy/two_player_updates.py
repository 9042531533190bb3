import jax
import jax.numpy as jnp


def critic(d, x):
    return d["a"] * x + d["b"]


def critic_loss(d, g, noise, data):
    fake = g["scale"] * noise + g["shift"]
    return critic(d, fake).mean() - critic(d, data).mean() + 0.5 * (d["a"] ** 2 + d["b"] ** 2)


def generator_loss(g, d, noise):
    return -critic(d, g["scale"] * noise + g["shift"]).mean()


@jax.jit
def round_of_game(g, d, noise, data):
    d_grads = jax.grad(critic_loss)(d, jax.lax.stop_gradient(g), noise, data)
    d = jax.tree.map(lambda p, x: p - 0.5 * x, d, d_grads)
    g_grads = jax.grad(generator_loss)(g, d, noise)
    return jax.tree.map(lambda p, x: p - 0.1 * x, g, g_grads), d


noise = jnp.linspace(-1.0, 1.0, 21)
data = 3.0 + noise
g = {"scale": jnp.array(1.0), "shift": jnp.array(0.0)}
d = {"a": jnp.array(0.0), "b": jnp.array(0.0)}
for _ in range(80):
    g, d = round_of_game(g, d, noise, data)
print(bool(jnp.abs(g["shift"] - 3.0) < 1.0))
