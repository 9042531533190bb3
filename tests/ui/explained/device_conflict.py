import sagax
import sagax.numpy as jnp

sagax.config.update("num_cpu_devices", 2)
first, second = sagax.devices()


@sagax.jit
def loss(weights, batch):
    return jnp.mean((batch @ weights) ** 2)


weights = sagax.device_put(jnp.ones(3), first)
batch = sagax.device_put(jnp.ones((4, 3)), second)
print(loss(weights, batch))  #~ SX0203 Received incompatible devices for jitted computation
