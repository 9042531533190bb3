import jax
import jax.numpy as jnp


@jax.custom_jvp
def smooth_step(x):
    return jnp.clip(x * x * (3.0 - 2.0 * x), 0.0, 1.0)


@smooth_step.defjvp
def smooth_step_jvp(primals, tangents):
    (x,), (v,) = primals, tangents
    inside = (x > 0.0) & (x < 1.0)
    return smooth_step(x), jnp.where(inside, 6.0 * x * (1.0 - x), 0.0) * v


x = jnp.array([-0.5, 0.25, 0.5, 2.0])
slopes = jax.vmap(jax.grad(smooth_step))(x)
curvature = jax.vmap(jax.grad(jax.grad(smooth_step)))(x)
print(slopes.tolist(), curvature.tolist())
