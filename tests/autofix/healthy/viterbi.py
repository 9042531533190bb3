import jax
import jax.numpy as jnp


@jax.jit
def viterbi(log_start, log_move, log_emit):
    def forward(score, emit):
        options = score[:, None] + log_move
        return options.max(axis=0) + emit, options.argmax(axis=0)

    score, back = jax.lax.scan(forward, log_start + log_emit[0], log_emit[1:])

    def backward(state, pointers):
        previous = pointers[state]
        return previous, previous

    last = jnp.argmax(score)
    _, states = jax.lax.scan(backward, last, back, reverse=True)
    return jnp.append(states, last), score.max()


move = jnp.log(jnp.array([[0.9, 0.1], [0.2, 0.8]]))
emit = jnp.log(jnp.array([[0.9, 0.1], [0.1, 0.9]]))
seen = jnp.array([0, 0, 1, 1, 1, 0])
path, score = viterbi(jnp.log(jnp.array([0.5, 0.5])), move, emit.T[seen])
print(path.tolist(), round(float(score), 3))
