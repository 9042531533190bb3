# error: none
# expect: StaleValueWarning
# line: 17
# depends: settings
# fix: pass_argument
# result: 6.0 ; 60.0
# grade: ran
import jax
import jax.numpy as jnp

settings = {"scale": 1.0, "shift": 0.0}


@jax.jit
def total():
    points = jnp.array([1.0, 2.0, 3.0])
    return jnp.sum(points * settings["scale"])


print(total())
settings["scale"] = 10.0
print(total())
