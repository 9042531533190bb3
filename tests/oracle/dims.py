"""Records how jax prints, simplifies and decides symbolic dimensions, for tests/core/dims/test_dims.py.

Run with the interpreter of an environment that has jax 0.12:

    python tests/oracle/dims.py

It rewrites tests/data/dims.json.
"""

import json
import random
from importlib.metadata import version
from pathlib import Path

from jax import core, export
from jax._src import core as internals

NAMES = "a, b, c, d"
HELPERS = {
    "max_dim": core.max_dim,
    "min_dim": core.min_dim,
    "stride_dim": internals.stride_dim,
    "dilate_dim": internals.dilate_dim,
    "divide_sizes": internals.divide_shape_sizes,
}

# One line each: `+ - * // % **` on the variables, and the helpers above.
WRITTEN = """
2*b + 1; b*a*3 - 4*a + b*b - 7; -a; a - b; b - a; a**3; a - a + 3; 0*a; -5 - a*b; b - 2*a
2*a//2; (2*a + 1)//2; (a*b + a)//(b + 1); (6*a + 4)%3; (6*a + 4)//3; (a + b)//(c + d)
(a + b)%(c + d); a//b; a%b; -a//2; (-a)%2; 5//a; 5%a; a//-2; a%-3; a%1; a//1; a//-1; (a + 5)//5
(a*b)//a; (a*b)%a; (a*a - b*b)//(a - b); (4*a + 2)//4; (4*a + 6)//4; (4*a + 6)%4; (4*a + 2*b)//6
(a//2)//3; (a//2)*2; a%2 + 2*(a//2); (a//2)**2; (a//2)*a; b*(a//2)*(a%3)*max_dim(a, 5)
a//2 + max_dim(a, b) + a%5; max_dim(a, 4); max_dim(4, a); max_dim(a, b); min_dim(b, a)
max_dim(a, 1); min_dim(a, 1); min_dim(a, 0); max_dim(0, a - b); max_dim(a - b, b)
max_dim(max_dim(a, b), c); min_dim(2*a, 2*b); max_dim(a, a + 1); max_dim(a + b, a - b)
max_dim(a, -b); min_dim(a, a + b); max_dim(a, 5) + max_dim(a, 6); max_dim(a, b) - max_dim(b, a)
(a + b)//2 + a//2; (a*b)//2 + a//b; (a + b + c)//2 + (a*b)//2; a//2 + (a//2)//2 + b
(a//2)*(b//2) + a*d + d*d + a*(b//2); a**5*b + a//2; a**9 + b*c; a**3 + b*c; a*b*c + a*a*d
a**2*b + a*b**2 + a**3 + b**3; a + b + c + d; (a*2 - b)//3 + (a*2 + b)//3
stride_dim(a, 3, 2); stride_dim(a, 1, 1); stride_dim(a, 1, 2); stride_dim(10, 3, 2)
stride_dim(2, 3, 2); stride_dim(a, 3, 1); dilate_dim(a, 2); dilate_dim(a, 1); dilate_dim(0, 2)
dilate_dim(a - 1, 2); divide_sizes((a, b), (b,)); divide_sizes((2*a, b), (2,))
divide_sizes((0,), (0,)); divide_sizes((a, 0), (0,)); divide_sizes((a, b), (2,))
divide_sizes((5,), (2,)); a**-1; a//0; a%0
"""

SPECS = """
a; 2*a; a + 1; a, b; (a, b); (a,); a,; (); 5, 6; 0; -a + 5; a^2; a_1, B, _x; max(a, b); min(a, 5)
mod(a, 2); floordiv(a, b); max(a,b) + floordiv(a,2)*mod(b,3); 2*a*b - 3*b + 1; a*a*b; - 3 + a
a//2; a%2; a b; 2a; a +; a + (b; a $ b; 1.5; mod(a); foo(a, b); max(a, b, c); max(a); max; (; a)
a >= 2; a, , b; a..; *a; a*; ...; _; _, a; a, ...
"""

CONSTRAINTS = """
a >= 2; a <= 10; a == 2*b; 2*b <= a; mod(a, 2) == 0; floordiv(a, 2) >= b; max(a, b) <= 8; a*b >= 4
a > 2; a != 2; a = 2; a; a >= b >= 2; a >=; >= 2; a == a + 1; a*b == 20; floordiv(a, 2) == b
"""


def entries(text: str) -> list[str]:
    return [e.strip() for line in text.strip().splitlines() for e in line.split("; ")]


def outcome(function, *args) -> str:
    """The result as text, or the name of the error."""
    try:
        return str(function(*args))
    except Exception as error:
        return f"! {type(error).__name__}"


def random_expression(rng: random.Random, depth: int) -> str:
    if depth == 0 or rng.random() < 0.2:
        return rng.choice("abcd") if rng.random() < 0.8 else str(rng.randint(1, 9))
    x = random_expression(rng, depth - 1)
    kind = rng.choice("++--**k//%Mm")
    if kind in "+-*":
        return f"({x} {kind} {random_expression(rng, depth - 1)})"
    if kind == "k":
        return f"{rng.choice([2, 3, -1, -4])}*{x}"
    if kind in "/%":
        return f"({x} {'//' if kind == '/' else '%'} {rng.choice([2, 3, 5, 7])})"
    name = "max_dim" if kind == "M" else "min_dim"
    return f"{name}({x}, {random_expression(rng, depth - 1)})"


def main() -> None:
    scope = export.SymbolicScope()
    variables = dict(zip("abcd", export.symbolic_shape(NAMES, scope=scope), strict=True))

    def value(text: str):
        return eval(text, {**HELPERS, **variables})

    rng = random.Random(20250)
    made = list(dict.fromkeys(random_expression(rng, rng.choice([2, 3, 4])) for _ in range(700)))
    comparisons = []
    for _ in range(400):
        text = (
            f"{random_expression(rng, 3)} {rng.choice(['>=', '>', '<=', '<'])}"
            f" {random_expression(rng, 2)}"
        )
        comparisons.append([text, outcome(value, text)])

    def spec(text: str):
        return export.symbolic_shape(text, like=None)

    def constraint(text: str):
        return export.symbolic_shape("a, b", constraints=[text])

    record = {
        "jax": version("jax"),
        "written": {text: outcome(value, text) for text in entries(WRITTEN)},
        "random": {text: outcome(value, text) for text in made},
        "comparisons": comparisons,
        "specs": {text: outcome(spec, text) for text in entries(SPECS)},
        "constraints": {text: outcome(constraint, text) for text in entries(CONSTRAINTS)},
    }
    path = Path(__file__).resolve().parents[1] / "data" / "dims.json"
    path.write_text(json.dumps(record, indent=1) + "\n")


if __name__ == "__main__":
    main()
