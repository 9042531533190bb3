# error: ConcretizationTypeError
# line: 17
# depends: step
# fix: jnp_instead_of_np
# fixed-file: fixed/conc_math_exp_annealing.py
# result: [0.338, 0.374, 0.288] ; [0.305, 0.588, 0.107] ; [0.007, 0.993, 0.0]

import math

import jax
import jax.numpy as jnp

T_START, T_END, TAU = 5.0, 0.1, 40.0


def temperature(step):
    return T_END + (T_START - T_END) * math.exp(-step / TAU)


@jax.jit
def select_probabilities(q_values, step):
    return jax.nn.softmax(q_values / temperature(step))


q_values = jnp.array([1.0, 1.5, 0.2])
for step in (0, 80, 400):
    print([round(float(p), 3) for p in select_probabilities(q_values, step)])
