import jax
import jax.numpy as jnp


@jax.custom_vjp
def hard_sample(probs, noise):
    return (noise < probs).astype(jnp.float32)


def hard_sample_fwd(probs, noise):
    return hard_sample(probs, noise), None


def hard_sample_bwd(residuals, g):
    return g, jnp.zeros_like(g)


hard_sample.defvjp(hard_sample_fwd, hard_sample_bwd)
observed = jnp.array([1.0, 0.2, -0.5])
loadings = jnp.array([[1.0, 0.5, -0.2], [0.3, -0.8, 0.4]])


def negative_elbo(logits, noise):
    probs = jax.nn.sigmoid(logits)
    z = hard_sample(probs, noise)
    kl = jnp.sum(probs * jnp.log(2.0 * probs) + (1.0 - probs) * jnp.log(2.0 * (1.0 - probs)))
    return 0.5 * jnp.sum((observed - z @ loadings) ** 2) + kl


logits = jnp.array([0.3, -0.6])
for key in jax.random.split(jax.random.key(11), 20):
    noise = jax.random.uniform(key, (2,))
    loss, grad = jax.value_and_grad(negative_elbo)(logits, noise)
    logits = logits - 0.2 * grad
print(round(float(loss), 3))
print([round(float(v), 3) for v in logits])
