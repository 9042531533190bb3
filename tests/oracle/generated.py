"""Records what jax gives for generated calls of every public function, for tests/generated_calls.py.

Run with an interpreter that has jax 0.12, from any folder:

    python tests/oracle/generated.py [CALLS_PER_FUNCTION] [MINUTES]

What is recorded already is not computed again: with a greater number the data grow. After so many MINUTES
what there is by then is written; the next run goes on.

It starts from calls that jax accepts (data/strict_calls.json), replaces operands by others of more dtypes, ranks, sizes
and extremes, adds keywords, and puts transformations around; of the calls that jax refuses, a part is kept.
"""

import gzip
import inspect
import json
import os
import random
import re
import resource
import subprocess
import sys
import tempfile
import time
import zlib
from pathlib import Path
from typing import Any, TextIO

os.environ["JAX_DISABLE_MOST_OPTIMIZATIONS"] = "1"  # what matters is the time of compiling

import jax

TESTS = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(TESTS))
import generated_calls as g  # noqa: E402
import strict_calls  # noqa: E402

_MEMORY = 8 << 30  # bytes: a call that asks for more is refused
_PATIENCE = 60  # seconds that a call may take

KEYWORDS: dict[str, list[str]] = {
    "axis": ["0", "-1", "1", "None", "(0, 1)", "(-1,)", "5", "()"], "axes": ["None", "(0, 1)", "(1, 0)", "1"], "keepdims": ["True"],
    "dtype": ["'float16'", "'int32'", "jnp.bfloat16", "bool", "'complex64'", "float", "int"], "ddof": ["1", "0.5"], "correction": ["1"],
    "initial": ["2", "0.5"], "where": ["b", "bv", "True", "m > 0"], "norm": ["'ortho'", "'forward'", "'backward'"], "n": ["5", "1", "2"], "k": ["1", "-1", "2"],
    "side": ["'right'", "'left'"], "sorter": ["perm"], "mode": ["'same'", "'valid'", "'full'", "'clip'", "'wrap'", "'fill'", "'edge'", "'reflect'"],
    "method": ["'lower'", "'higher'", "'midpoint'", "'nearest'", "'sort'", "'scan'"], "size": ["5", "2", "0"], "fill_value": ["-1", "0"], "total_repeat_length": ["6"],
    "precision": ["'highest'", "jax.lax.Precision.HIGH"], "preferred_element_type": ["jnp.float32", "jnp.bfloat16"], "stable": ["False", "True"], "descending": ["True"],
    "return_index": ["True"], "return_inverse": ["True"], "return_counts": ["True"], "assume_unique": ["True"], "invert": ["True"], "equal_nan": ["True"],
    "rtol": ["0.1"], "atol": ["0.1"], "nan": ["1.0"], "posinf": ["2.0"], "neginf": ["-2.0"], "decimals": ["1", "-1"], "offset": ["1", "-1"], "axis1": ["1", "0"], "axis2": ["0", "-1"],
    "indexing": ["'ij'", "'xy'"], "sparse": ["True"], "endpoint": ["False"], "retstep": ["True"], "num": ["5", "1", "0"], "bins": ["3", "v"], "range": ["(0, 1)"],
    "weights": ["v", "w", "f"], "density": ["True"], "minlength": ["6"], "length": ["3"], "period": ["2.0"], "left": ["0.0"], "right": ["1.0"], "rowvar": ["False"], "bias": ["True"],
    "full_matrices": ["False"], "compute_uv": ["False"], "hermitian": ["True"], "lower": ["True", "False"], "upper": ["True"], "trans": ["1", "'T'"], "unit_diagonal": ["True"],
    "ord": ["1", "2", "jnp.inf", "'fro'", "-1", "'nuc'"], "UPLO": ["'U'"], "symmetrize_input": ["False"], "reverse": ["True"], "dimension": ["0", "1"], "is_stable": ["False"],
    "copy": ["True"], "order": ["'C'", "'F'"], "shape": ["(2, 3)", "(4,)", "()", "4"], "exponent": ["2"], "approximate": ["False"], "alpha": ["0.5", "v"], "negative_slope": ["0.2"],
    "num_classes": ["3"], "return_sign": ["True"], "b": ["v", "0.5"], "loc": ["0.5", "v"], "scale": ["2.0", "v"], "increasing": ["True"], "N": ["3"], "M": ["5"], "prepend": ["0"], "append": ["1"],
    "type": ["2"], "window": ["'hann'"], "nperseg": ["4"], "minval": ["0.1"], "maxval": ["0.9", "3"], "replace": ["False"], "p": ["w / 6"], "independent": ["True"],
    "edge_order": ["1"], "dx": ["0.5"], "x": ["v"], "fweights": ["iv"], "aweights": ["v"], "broadcasted": ["True"], "overwrite_a": ["True"], "check_finite": ["False"], "deg": ["2"],
    "wrap": ["True"], "val": ["1.0"], "strip_zeros": ["False"], "rcond": ["0.1"], "trim": ["'f'"], "unpackbits": ["None"], "bitorder": ["'little'"], "count": ["3"], "mask": ["True"],
    "promote_integers": ["False"], "include_initial": ["True"], "wrap_negative_indices": ["False"], "unique_indices": ["True"], "indices_are_sorted": ["True"], "axis_size": ["3"], "stride": ["2"],
    "limit_index": ["2"], "start_index": ["1"], "accuracy": ["None"], "rounding_method": ["jax.lax.RoundingMethod.TO_NEAREST_EVEN"], "num_keys": ["1"], "operand_dimension": ["0"],
}  # fmt: skip
# Functions whose operands are sizes, or numbers of rounds, which must not be extreme.
SIZES = set(
    "gcd lcm arange linspace logspace geomspace bartlett blackman hamming hanning kaiser tri eye identity ones zeros full empty indices"
    " repeat tile pad diag diagflat bincount resize vander one_hot iota broadcasted_iota bernoulli factorial mask_indices tril_indices"
    " triu_indices fftfreq rfftfreq unpackbits packbits hilbert hankel toeplitz pascal dft hadamard".split()
)
EXTREME = {"ix", "u32", "big", "fx", "i16", "i8"}
NUMBERS = ["2", "0.5", "True", "-1", "1j", "3.0", "0", "[1.0, 2.0, 3.0, 4.0]", "[1, 2, 3, 4]", "np.float32(0.3)", "np.int8(3)", "np.arange(4.0)", "[v, v]"]  # fmt: skip
KINDS = [g.FLOATS, g.INTEGERS, g.BOOLEANS, g.COMPLEX]
EVERY = [t for kind in KINDS for t in kind]


def mutated(call: str, parameters: list[str], rng: random.Random) -> str:
    """A call with other operands or keywords."""
    if not re.fullmatch(r"[\w.]+\(.*\)", call):
        return call
    head, rest = call.split("(", 1)
    arguments = rest[:-1]
    tokens = [t for t in dict.fromkeys(re.findall(r"\b[a-z]\w*\b", arguments)) if t in EVERY]
    style = rng.random()
    if tokens and style < 0.75:
        chosen = tokens if rng.random() < 0.4 else [rng.choice(tokens)]
        kind = next(k for k in KINDS if chosen[0] in k)
        pool = kind if rng.random() < 0.6 else EVERY if rng.random() < 0.7 else NUMBERS
        if head.rsplit(".", 1)[-1] in SIZES:
            pool = [token for token in pool if token not in EXTREME]
        new = rng.choice(pool)
        for token in chosen:
            arguments = re.sub(
                rf"\b{token}\b(?!\()", new if rng.random() < 0.8 else rng.choice(pool), arguments
            )
    given = set(re.findall(r"(\w+)=", arguments))
    fitting = [p for p in parameters if p in KEYWORDS and p not in given]
    if fitting and (style > 0.5 or not tokens):
        for name in rng.sample(fitting, min(len(fitting), rng.choice([1, 1, 1, 2]))):
            arguments += f", {name}={rng.choice(KEYWORDS[name])}"
    return f"{head}({arguments})"


def parameters_of(name: str, names: dict[str, Any]) -> list[str]:
    """The parameters of a function that may be given by keyword, beyond the required ones."""
    try:
        found = inspect.signature(eval(name, names)).parameters.values()
    except (TypeError, ValueError, SyntaxError, AttributeError):
        return []
    return [p.name for p in found if p.default is not p.empty]


def record(count: int, first: int, known: dict[str, Any], out: TextIO) -> None:
    """Write, from base call number `first` on, a line for each call and one for what it gives."""
    resource.setrlimit(resource.RLIMIT_DATA, (_MEMORY, _MEMORY))
    values = g.operands(jax)
    names = strict_calls.scope(jax)
    for n, start in enumerate(_bases()):
        if n < first:
            continue
        parameters = parameters_of(start.split("(")[0], values | names)
        rng = random.Random(zlib.crc32(start.encode()))
        kept = refused = 0
        seen = set()
        for attempt in range(4 * count):
            if kept >= count:
                break
            plain = attempt < len(g.TRANSFORMATIONS)
            text = start if plain else mutated(start, parameters, rng)
            way = g.TRANSFORMATIONS[attempt % len(g.TRANSFORMATIONS)]
            call = f"{way} {text}"
            if call in seen:
                continue
            seen.add(call)
            found = known.get(call)
            if found is None:
                print(json.dumps([n, call]), file=out, flush=True)
                try:
                    found = g.outcome(jax, names, values, call)
                except SyntaxError:
                    continue
            if isinstance(found, str):
                if refused >= count // 4:
                    continue
                refused += 1
            kept += 1
            if call not in known:
                print(json.dumps([n, call, found]), file=out, flush=True)
        print(json.dumps([n, "end"]), file=out, flush=True)


def _says_something(call: str) -> bool:
    """Whether jax's answer is to be expected elsewhere: not of unsorted tables, nor of empty gradients."""
    way, text = call.split(" ", 1)
    if text.startswith(("numpy.searchsorted(", "numpy.digitize(")):
        return False
    derivative = way in ("grad", "jvp", "vmap_grad")
    return not derivative or any(token in strict_calls._words(text) for token in g.FLOATS)


def _bases() -> list[str]:
    text = (TESTS / "data" / "strict_calls.json").read_text(encoding="utf-8")
    return list(json.loads(text))


def main(count: int, minutes: float) -> None:
    """Record in processes of their own: a function whose call does not end is left where it is."""
    end = time.monotonic() + 60 * minutes
    lines = Path(tempfile.mkstemp(suffix=".jsonl")[1])
    first, total = 0, len(_bases())
    while first < total and time.monotonic() < end:
        command = [sys.executable, __file__, str(count), str(first), str(lines)]
        child = subprocess.Popen(command)
        size = -1
        while child.poll() is None:
            time.sleep(_PATIENCE)
            if size == (size := lines.stat().st_size) or time.monotonic() > end:
                child.kill()
        if child.returncode == 0 or time.monotonic() > end:
            break
        last = json.loads(lines.read_text().splitlines()[-1])
        print("does not end, or dies:", last[1], flush=True)
        first = last[0] + 1
    found = [json.loads(line) for line in _whole_lines(lines)]
    rows = dict(g.recorded()) if g.DATA.exists() else {}
    rows |= {row[1]: row[2] for row in found if len(row) == 3 and _says_something(row[1])}
    with gzip.GzipFile(g.DATA, "wb", 9, mtime=0) as file:
        file.write(json.dumps(list(rows.items()), separators=(",", ":")).encode())
    print(len(rows), "calls")


def _whole_lines(path: Path) -> list[str]:
    """The lines of a file, without a last one that was cut off."""
    return path.read_text().rpartition("\n")[0].splitlines()


if __name__ == "__main__":
    if len(sys.argv) > 3:
        known = dict(g.recorded()) if g.DATA.exists() else {}
        with open(sys.argv[3], "a", encoding="utf-8") as out:
            record(int(sys.argv[1]), int(sys.argv[2]), known, out)
    else:
        main(
            int(sys.argv[1]) if len(sys.argv) > 1 else 30,
            float(sys.argv[2]) if len(sys.argv) > 2 else 1e6,
        )
