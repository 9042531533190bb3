import sagax

calls = {"step": 0}


@sagax.jit
def step(w):
    calls["step"] += 1  #~ SX0401 `calls["step"] += 1` happens once
    return 0.9 * w


w = 1.0
for _ in range(3):
    w = step(w)
print(calls["step"])
