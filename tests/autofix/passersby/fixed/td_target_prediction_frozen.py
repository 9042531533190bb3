# One correct fixed version of td_target_prediction_frozen.py
import jax
import jax.numpy as jnp


def q_values(params, obs):
    hidden = jnp.tanh(obs @ params["w1"])
    return hidden @ params["w2"]


def td_loss(params, target_params, batch, gamma=0.9):
    obs, action, reward, nxt, done = batch
    q = jnp.take_along_axis(q_values(params, obs), action[:, None], axis=1)[:, 0]
    bootstrap = q_values(target_params, nxt).max(axis=1)
    target = reward + gamma * (1.0 - done) * bootstrap
    error = jax.lax.stop_gradient(target) - q
    return jnp.mean(error ** 2)


@jax.jit
def learn(params, target_params, batch):
    loss, grads = jax.value_and_grad(td_loss)(params, target_params, batch)
    return jax.tree.map(lambda p, g: p - 0.2 * g, params, grads), loss


params = {
    "w1": jnp.linspace(-0.5, 0.9, 12).reshape(3, 4),
    "w2": jnp.linspace(0.3, -0.3, 8).reshape(4, 2),
}
obs = jnp.eye(3)
batch = (obs, jnp.array([0, 1, 0]), jnp.array([1.0, 0.0, 0.5]),
         jnp.roll(obs, 1, axis=0), jnp.array([0.0, 0.0, 1.0]))
target_params = params
losses = []
for _ in range(400):
    params, loss = learn(params, target_params, batch)
    losses.append(float(loss))
print("loss went down:", losses[-1] < 0.5 * losses[0])
