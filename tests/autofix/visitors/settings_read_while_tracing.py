# error: none
# expect: ImpureTraceWarning | StaleValueWarning
# jax-differs: jax silently keeps what stood in the file at the first call
# line: 23
# depends: -
# fix: pass_argument
# fixed-file: fixed/settings_read_while_tracing.py
# result: [0.28, 0.5]
# family: silent/impure-file

import json
import tempfile
from pathlib import Path

import jax
import jax.numpy as jnp

settings = Path(tempfile.mkdtemp()) / "gains.json"


@jax.jit
def control(error, rate):
    gains = json.loads(settings.read_text())
    return jnp.clip(gains["p"] * error - gains["d"] * rate, -1.0, 1.0)


outputs = []
for gains in ({"p": 1.0, "d": 0.1}, {"p": 2.0, "d": 0.5}):
    settings.write_text(json.dumps(gains))
    outputs.append(round(float(control(0.3, 0.2)), 4))
print(outputs)
