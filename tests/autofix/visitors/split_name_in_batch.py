# error: TypeError
# line: 26
# depends: -
# fix: drop_entry
# fixed-file: fixed/split_name_in_batch.py
# result: train 0.1426 ; train 0.0103 ; valid 0.1426
# family: types/string-in-argument

import jax
import jax.numpy as jnp


def batches():
    x = jnp.linspace(-1.0, 1.0, 12).reshape(3, 4)
    for i, split in enumerate(["train", "train", "valid"]):
        yield {"x": x[i], "y": 2.0 * x[i], "split": split}


@jax.jit
def squared_error(w, batch):
    return jnp.mean((w * batch["x"] - batch["y"]) ** 2)


w = jnp.array(1.5)
for batch in batches():
    error = squared_error(w, batch)
    print(batch["split"], round(float(error), 4))
