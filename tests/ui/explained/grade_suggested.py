"""A script that starts a process is not run again: its fixes are suggested."""

import subprocess
import sys

import sagax
import sagax.numpy as jnp

subprocess.run([sys.executable, "-c", "pass"], check=True)


@sagax.jit
def size(x):
    return x if x > 0 else -x  #~ SX0102 Attempted boolean conversion


print(float(size(jnp.float32(-2.0))))
