# One correct fixed version of conc_math_exp_annealing.py
import jax
import jax.numpy as jnp

T_START, T_END, TAU = 5.0, 0.1, 40.0


def temperature(step):
    return T_END + (T_START - T_END) * jnp.exp(-step / TAU)


@jax.jit
def select_probabilities(q_values, step):
    return jax.nn.softmax(q_values / temperature(step))


q_values = jnp.array([1.0, 1.5, 0.2])
for step in (0, 80, 400):
    print([round(float(p), 3) for p in select_probabilities(q_values, step)])
