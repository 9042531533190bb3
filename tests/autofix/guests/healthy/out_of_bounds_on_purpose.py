import jax
import jax.numpy as jnp


@jax.jit
def neighbor_sum(board):
    n = board.shape[0]
    index = jnp.arange(n)
    right = board.at[index + 1].get(mode="fill", fill_value=0)
    left = board.at[jnp.where(index > 0, index - 1, n)].get(mode="fill", fill_value=0)
    return left + right


@jax.jit
def scatter_valid(slots, size_three):
    return size_three.at[slots].add(1.0, mode="drop")


print(neighbor_sum(jnp.array([1, 2, 4, 8])).tolist())
print(scatter_valid(jnp.array([0, 2, 7, 2]), jnp.zeros(3)).tolist())
