import jax
import jax.numpy as jnp

temperature = 1.0


@jax.jit
def policy(logits, temperature):
    return jax.nn.softmax(logits / temperature)


logits = jnp.array([0.0, 1.0])
warm = policy(logits, temperature)
temperature = 0.1
cold = policy(logits, temperature)
print(bool(cold[1] > 0.99))
