# One correct fixed version of settings_read_while_tracing.py
import json
import tempfile
from pathlib import Path

import jax
import jax.numpy as jnp

settings = Path(tempfile.mkdtemp()) / "gains.json"


@jax.jit
def control(error, rate, gains):
    return jnp.clip(gains["p"] * error - gains["d"] * rate, -1.0, 1.0)


outputs = []
for gains in ({"p": 1.0, "d": 0.1}, {"p": 2.0, "d": 0.5}):
    settings.write_text(json.dumps(gains))
    outputs.append(round(float(control(0.3, 0.2, json.loads(settings.read_text()))), 4))
print(outputs)
