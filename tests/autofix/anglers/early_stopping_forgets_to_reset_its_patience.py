# error: TypeError
# line: 32
# also-line: 30
# depends: -
# fix: any
# result: 9 3 0.0455 ; [1.042, 0.734]

import jax
import jax.numpy as jnp

x_train = jnp.array([0.0, 0.5, 1.0, 1.5])
y_train = jnp.array([0.1, 0.9, 2.3, 2.8])
x_val = jnp.array([0.25, 1.25])
y_val = jnp.array([0.7, 2.1])


def mse(w, x, y):
    return jnp.mean((w[0] * x + w[1] - y) ** 2)


def train(w, max_epochs=200, patience=3):
    def keep_going(state):
        epoch, wait = state[0], state[4]
        return (epoch < max_epochs) & (wait < patience)

    def one_epoch(state):
        epoch, w, best_w, best_loss, wait = state
        w = w - 0.1 * jax.grad(mse)(w, x_train, y_train)
        val_loss = mse(w, x_val, y_val)
        best_w, best_loss, wait = jax.lax.cond(
            val_loss < best_loss,
            lambda: (w, val_loss),
            lambda: (best_w, best_loss, wait + 1),
        )
        return epoch + 1, w, best_w, best_loss, wait

    return jax.lax.while_loop(keep_going, one_epoch, (0, w, w, jnp.inf, 0))


epoch, w, best_w, best_loss, wait = jax.jit(train)(jnp.zeros(2))
print(int(epoch), int(wait), round(float(best_loss), 4))
print([round(float(v), 3) for v in best_w])
