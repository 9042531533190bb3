"""Records what jax gives for generated calls of every public function, for tests/generated_calls.py.

Run with an interpreter that has jax 0.12, from any folder:

    python tests/oracle/generated.py [CALLS_PER_FUNCTION] [MINUTES] [LINES]

What is recorded already is not computed again: with a greater number the data grow. After so many MINUTES
what there is by then is written; the next run goes on. Results are kept in the file LINES meanwhile.

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
from collections.abc import Iterator
from pathlib import Path
from typing import Any, TextIO

os.environ["JAX_DISABLE_MOST_OPTIMIZATIONS"] = "1"  # what matters is the time of compiling
os.environ["XLA_FLAGS"] = "--xla_cpu_parallel_codegen_split_count=1"

import jax

TESTS = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(TESTS))
import generated_calls as g  # noqa: E402
import strict_calls  # noqa: E402

_MEMORY = 8 << 30  # bytes: a call that asks for more is refused
_PATIENCE = 8  # seconds of CPU time that a call may take; lcm(INT_MIN, x) and hyp2f1 of unsigned integers do not end on jax
_LIFE = 1500  # calls that one process makes: executables are not given back
_TURN = 6  # calls of a function before the next has its turn
_DONE = 7  # the exit status of a worker that has nothing left to do
_SHARES = (
    4,
    55,
    20,
    8,
    8,
    5,
)  # of the transformations; compiling one function takes the least time

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
ENDLESS = (
    "scipy.special.hyp2f1",
    "lax.lcm",
    "numpy.lcm",
)  # many operands make jax's series go on for minutes
EXTREME = {"ix", "u32", "big", "fx", "i16", "i8"}
NUMBERS = ["2", "0.5", "True", "-1", "1j", "3.0", "0", "[1.0, 2.0, 3.0, 4.0]", "[1, 2, 3, 4]", "np.float32(0.3)", "np.int8(3)", "np.arange(4.0)", "[v, v]"]  # fmt: skip
KINDS = [g.FLOATS, g.INTEGERS, g.BOOLEANS, g.COMPLEX]
EVERY = [t for kind in KINDS for t in kind]


def mutated(call: str, parameters: list[str], rng: random.Random) -> str:
    """A call with other operands or keywords."""
    if not re.fullmatch(r"[\w.]+\(.*\)", call):
        return call
    head, rest = call.split("(", 1)
    if head in ENDLESS:
        return call
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


def record(count: int, known: dict[str, Any], left_out: set[str], out: TextIO) -> bool:
    """Write a line for each call before it is made and one for what it gives; whether all are done.

    The functions take turns, so that what is there after any time is spread evenly.
    """
    resource.setrlimit(resource.RLIMIT_DATA, (_MEMORY, _MEMORY))
    values = g.operands(jax)
    names = strict_calls.scope(jax)
    bases = _bases()
    random.Random(0).shuffle(bases)
    turns = [_calls_of(base, parameters_of(base.split("(")[0], values | names)) for base in bases]
    kept, refused, made = [0] * len(bases), [0] * len(bases), 0
    for goal in range(_TURN, count + _TURN, _TURN):
        for n, turn in enumerate(turns):
            for _, call in zip(range(4 * _TURN), turn, strict=False):
                if call not in known and call not in left_out:
                    print(json.dumps([call]), file=out, flush=True)
                    try:
                        known[call] = g.outcome(jax, names, values, call)
                    except SyntaxError:
                        known[call] = None
                    print(json.dumps([call, known[call]]), file=out, flush=True)
                    made += 1
                found = known.get(call)
                raises = isinstance(found, str)
                refused[n] += raises
                kept[n] += found is not None and (not raises or refused[n] <= goal // 4)
                if kept[n] >= goal:
                    break
            if made > _LIFE:
                return False
    return True


def _calls_of(base: str, parameters: list[str]) -> Iterator[str]:
    """The calls made from one: first under each transformation as it is, then with other operands."""
    rng = random.Random(zlib.crc32(base.encode()))
    seen = {f"{way} {base}" for way in g.TRANSFORMATIONS}
    yield from (f"{way} {base}" for way in g.TRANSFORMATIONS if _says_something(f"{way} {base}"))
    for _ in range(1000):
        text = mutated(base, parameters, rng)
        call = f"{rng.choices(g.TRANSFORMATIONS, _SHARES)[0]} {text}"
        if call not in seen and _says_something(call):
            seen.add(call)
            yield call


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


def main(count: int, minutes: float, lines: Path) -> None:
    """Record in a process of its own: it ends where a call does not end, and goes on behind it."""
    end = time.monotonic() + 60 * minutes
    command = [sys.executable, __file__, str(count), "0", str(lines), "worker"]
    while time.monotonic() < end:
        child = subprocess.Popen(command)
        size, since = lines.stat().st_size if lines.exists() else 0, float("inf")
        while child.poll() is None:
            time.sleep(1)
            now, spent = lines.stat().st_size if lines.exists() else 0, _cpu_seconds(child.pid)
            if now != size:  # it has begun, too
                size, since = now, spent
            if time.monotonic() > end or spent > since + _PATIENCE:
                child.kill()
        if child.returncode == _DONE:
            break
    collect(lines)


def _cpu_seconds(pid: int) -> float:
    """The CPU time of a process that runs: on a busy machine, what a call takes says nothing."""
    try:
        return time.clock_gettime(~pid << 3 | 2)  # as clock_getcpuclockid(3) of Linux builds it
    except OSError:  # it has ended
        return 0.0


def collect(lines: Path) -> None:
    """Add what is in the lines to the data."""
    rows = dict(g.recorded()) if g.DATA.exists() else {}
    found = {row[0]: row[1] for row in _whole_lines(lines) if len(row) == 2 and row[1] is not None}
    rows |= {call: value for call, value in found.items() if _says_something(call)}
    with gzip.GzipFile(g.DATA, "wb", 9, mtime=0) as file:
        file.write(json.dumps(list(rows.items()), separators=(",", ":")).encode())
    print(len(rows), "calls")


def _whole_lines(path: Path) -> list[list[Any]]:
    """The lines of a file, without a last one that was cut off."""
    whole = []
    for line in path.read_text().splitlines() if path.exists() else []:
        try:
            whole.append(json.loads(line))
        except ValueError:  # the process ended while it wrote
            continue
    return whole


def work(count: int, lines: Path) -> None:
    """Record until there is enough, or until the process is old."""
    found = _whole_lines(lines)
    known = dict(g.recorded()) if g.DATA.exists() else {}
    known |= {row[0]: row[1] for row in found if len(row) == 2}
    left_out = {row[0] for row in found if len(row) == 1} - set(known)
    with open(lines, "a", encoding="utf-8") as out:
        print(file=out)
        done = record(count, known, left_out, out)
    sys.exit(_DONE if done else 0)


if __name__ == "__main__":
    calls = int(sys.argv[1]) if len(sys.argv) > 1 else 34
    time_limit = float(sys.argv[2]) if len(sys.argv) > 2 else 1e6
    path = Path(sys.argv[3]) if len(sys.argv) > 3 else Path(tempfile.mkstemp(suffix=".jsonl")[1])
    if sys.argv[4:] == ["worker"]:
        work(calls, path)
    else:
        main(calls, time_limit, path)
