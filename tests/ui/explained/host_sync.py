import sagax
import sagax.numpy as jnp


@sagax.jit
def step(w):
    return 0.9 * w, jnp.sum(w**2)


w = jnp.ones(3)
losses = []
for _ in range(50):
    w, loss = step(w)
    losses.append(float(loss))  #~ SX0413 each iteration waits for `loss`
print(len(losses))
