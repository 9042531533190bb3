# error: TypeError
# line: 24
# depends: -
# fix: transpose
# fixed-file: fixed/weights_from_other_framework.py
# result: [[1.0, 1.0], [1.1753, 0.2403]]
# family: shapes/matmul

import jax
import jax.numpy as jnp
import numpy as np

# written by a library that keeps (outputs, inputs)
state_dict = {
    "fc1.weight": np.linspace(-1.0, 1.0, 12, dtype=np.float32).reshape(4, 3),
    "fc1.bias": np.zeros(4, np.float32),
    "fc2.weight": np.linspace(0.5, -0.5, 8, dtype=np.float32).reshape(2, 4),
    "fc2.bias": np.ones(2, np.float32),
}


@jax.jit
def forward(p, x):
    hidden = jax.nn.relu(x @ p["fc1.weight"] + p["fc1.bias"])
    return hidden @ p["fc2.weight"] + p["fc2.bias"]


x = jnp.array([[1.0, 0.0, -1.0], [0.5, 0.5, 0.5]])
print([[round(float(v), 4) for v in row] for row in forward(state_dict, x)])
