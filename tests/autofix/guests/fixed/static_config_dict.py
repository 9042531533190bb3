# One correct fixed version of static_config_dict.py
import jax
import jax.numpy as jnp


@jax.jit
def schedule(step, config):
    warm = jnp.minimum(step / config["warmup"], 1.0)
    decay = config["decay"] ** jnp.maximum(step - config["warmup"], 0)
    return config["peak"] * warm * decay


config = {"peak": 1e-2, "warmup": 10, "decay": 0.99}
rates = [schedule(step, config=config) for step in (0, 5, 10, 30)]
print([round(float(rate), 5) for rate in rates])
