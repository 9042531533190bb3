"""Progress bars of loops: what they show, where, and that nothing else changes.

A terminal is a stream that says so. Bars appear at once here instead of after half a second.
"""

from __future__ import annotations

import io
import re
import subprocess
import sys
import threading
import time
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

import sagax
import sagax.numpy as snp
from sagax import lax
from sagax._src.diagnostics import loop_bars

SOURCE = Path(__file__).resolve().parents[2] / "src"
N = 200


class Terminal(io.StringIO):
    def isatty(self):
        return True


def use(monkeypatch, stream):
    """Let bars go to `stream`: pytest sets sys.stderr itself between fixtures and tests."""
    monkeypatch.setattr(loop_bars, "sys", SimpleNamespace(stderr=stream))


@pytest.fixture
def terminal(monkeypatch):
    stream = Terminal()
    use(monkeypatch, stream)
    monkeypatch.setattr(loop_bars, "_DELAY", 0.0)
    monkeypatch.setattr(loop_bars, "_EVERY", 0.005)
    return stream


def slowly(x):
    """Return x, a millisecond later."""
    x = snp.asarray(x)
    shape = sagax.ShapeDtypeStruct(x.shape, x.dtype)

    def wait(x):
        time.sleep(0.001)
        return np.asarray(x)

    return sagax.pure_callback(wait, shape, x, vmap_method="broadcast_all")


def step(c, x):
    return snp.sin(c) * 1.01 + x, c * 2


def slow_step(c, x):
    return snp.sin(c) + slowly(x), c * 2


def endings(stream):
    """Return the last lines of all loops: name and number of iterations."""
    found = re.findall(
        r"sagax: ([^\r\n]*) took [\d.]+ s: ([\d,]+) iterations, [\d.,e+]+/s", stream.getvalue()
    )
    return [(name, int(count.replace(",", ""))) for name, count in found]


def equal(a, b):
    pairs = zip(sagax.tree.leaves(a), sagax.tree.leaves(b), strict=True)
    return all(np.array_equal(x, y, equal_nan=True) for x, y in pairs)


XS = np.linspace(-1.0, 1.0, N).astype(np.float32)
C = np.linspace(0.0, 1.0, 7).astype(np.float32)


# --- results ----------------------------------------------------------------------------------------------

OPTIONS = [
    {},
    {"reverse": True},
    {"unroll": 7},
    {"unroll": 7, "reverse": True},
    {"unroll": 16},
]


@pytest.mark.parametrize("options", OPTIONS, ids=str)
@pytest.mark.parametrize("compiled", [True, False], ids=["jit", "eager"])
def test_scan_has_the_bits_that_it_has_without(terminal, options, compiled):
    wrap = sagax.jit if compiled else lambda f: f
    plain = wrap(lambda c, xs: lax.scan(step, c, xs, **options))
    shown = wrap(lambda c, xs: lax.scan(step, c, xs, progress=True, **options))
    assert equal(plain(C, XS), shown(C, XS))


LOOPS = {
    "static": lambda x, n, p: lax.fori_loop(2, N, lambda i, x: snp.sin(x) + i, x, progress=p),
    "traced": lambda x, n, p: lax.fori_loop(2, n, lambda i, x: snp.sin(x) + i, x, progress=p),
    "bounded": lambda x, n, p: lax.fori_loop(
        2, n, lambda i, x: snp.sin(x) + i, x, max_steps=2 * N, progress=p
    ),
    "while": lambda x, n, p: lax.while_loop(
        lambda s: s[0] < n, lambda s: (s[0] + 1, snp.sin(s[1]) + s[0]), (2, x), max_steps=2 * N,
        progress=p,
    )[1],
}  # fmt: skip
TRANSFORMS = {
    "plain": lambda f: f,
    "jvp": lambda f: lambda x, n: sagax.jvp(lambda x: f(x, n), (x,), (x,)),
    "vmap": lambda f: lambda x, n: sagax.vmap(f, (0, None))(snp.stack([x, 2 * x]), n),
    "vmap of bounds": lambda f: lambda x, n: sagax.vmap(f, (None, 0))(x, snp.stack([n, n - 50, 0])),
    "grad": lambda f: sagax.grad(lambda x, n: f(x, n).sum()),
    "checkpoint": lambda f: sagax.grad(lambda x, n: sagax.checkpoint(f)(x, n).sum()),
}


# a loop with traced bounds has no reverse mode
REVERSE = ("grad", "checkpoint")
CASES = [(a, b) for a in LOOPS for b in TRANSFORMS if a != "traced" or b not in REVERSE]


@pytest.mark.parametrize(("loop", "transform"), CASES)
def test_transformed_loops_have_the_same_bits_and_one_bar(terminal, loop, transform):
    def apply(progress):
        f = TRANSFORMS[transform](lambda x, n: LOOPS[loop](x, n, progress))
        return sagax.block_until_ready(sagax.jit(f)(C, snp.int32(N)))

    plain = apply(False)
    assert terminal.getvalue() == ""
    assert equal(plain, apply("the loop"))


@pytest.mark.parametrize("transform", ["plain", "vmap", "vmap of bounds"])
@pytest.mark.parametrize("loop", ["scan", "fori"])
def test_a_loop_has_one_bar_however_it_is_mapped(terminal, loop, transform):
    def f(x, n):
        if loop == "scan":
            return lax.scan(slow_step, x, XS, progress="loop")[0]
        return lax.fori_loop(0, n, lambda i, x: slow_step(x, x)[0], x, progress="loop")

    sagax.block_until_ready(sagax.jit(TRANSFORMS[transform](f))(C, snp.int32(N)))
    assert endings(terminal) == [("loop", N)]


@pytest.mark.parametrize("compiled", [True, False], ids=["jit", "eager"])
def test_a_gradient_has_a_bar_for_the_forward_loop_and_for_what_it_runs_again(
    monkeypatch, terminal, compiled
):
    begun = []
    request = loop_bars.LoopBar.request

    def noted(self, number, done, total):
        if number == 0:
            begun.append((self.name, total))
        return request(self, number, done, total)

    monkeypatch.setattr(loop_bars.LoopBar, "request", noted)

    def loss(c):
        return lax.scan(step, c, XS, progress="loop")[0].sum()

    def bars(gradient):
        begun.clear()
        found = sagax.block_until_ready((sagax.jit(gradient) if compiled else gradient)(C))
        assert np.isfinite(np.asarray(sagax.tree.leaves(found)[-1])).all()
        return list(begun)

    assert bars(sagax.grad(loss)) == [("loop", N)]
    both = bars(sagax.value_and_grad(sagax.checkpoint(loss)))
    assert both == [("loop", N), ("loop (again)", N)]


def test_passes_over_jaxprs_look_into_loops_with_bars(terminal):
    """Checks, sparse matrices and key reuse."""
    from sagax.experimental import checkify, sparse

    def f(c, xs):
        def body(c, x):
            checkify.check(x < 3.0, "too large: {x}", x=x)
            return c + snp.log(x), c

        return lax.scan(body, c, xs, progress="checked")

    checked = sagax.jit(checkify.checkify(f, errors=checkify.user_checks))
    error, (total, _) = checked(0.0, snp.array([1.0, 2.0]))
    assert error.get() is None and float(total) == pytest.approx(np.log(2.0))
    assert "too large: 4.0" in checked(0.0, snp.array([1.0, 4.0]))[0].get()

    matrix = sparse.BCOO.fromdense(snp.eye(7) * 2)
    product = sparse.sparsify(
        lambda m, c: lax.fori_loop(0, 3, lambda i, c: m @ c, c, progress="sparse")
    )
    assert equal(product(matrix, C), C * 8)

    def draws(key):
        return lax.fori_loop(0, 3, lambda i, x: x + sagax.random.normal(key), 0.0, progress="draws")

    with sagax.debug_key_reuse(True), pytest.raises(sagax.errors.KeyReuseError):
        sagax.jit(draws)(sagax.random.key(0))


# --- what is shown ----------------------------------------------------------------------------------------


def test_a_bar_shows_what_is_done_and_what_is_left(terminal):
    sagax.block_until_ready(lax.scan(slow_step, C, XS, progress="sampling"))
    text = terminal.getvalue()
    bar = r"\rsagax: sampling +\d+% \[#*\.+\] \d+/200, 0:00, 0:0\d left, [\d.,]+/s"
    assert re.search(bar, text)
    assert endings(terminal) == [("sampling", N)] and text.endswith("\n")


def test_the_function_names_the_bar(terminal):
    sagax.block_until_ready(lax.scan(slow_step, C, XS, progress=True))
    assert endings(terminal) == [("slow_step", N)]


def test_traced_bounds_are_known_when_the_loop_runs(terminal):
    def body(i, x):
        return slow_step(x, x)[0]

    f = sagax.jit(lambda n: lax.fori_loop(10, n, body, C, progress="traced"))
    for n in (60, 90):
        sagax.block_until_ready(f(n))
    assert f"/{50}," in terminal.getvalue() and endings(terminal) == [
        ("traced", 50),
        ("traced", 80),
    ]


def test_a_loop_that_ends_before_max_steps_says_how_many_it_took(terminal):
    def body(s):
        return s[0] + 1, slow_step(s[1], s[1])[0]

    found = lax.while_loop(lambda s: s[0] < 77, body, (0, C), max_steps=500, progress="search")
    assert int(found[0]) == 77
    assert endings(terminal) == [("search", 77)] and "/500," in terminal.getvalue()


def test_nested_loops_share_the_line(terminal):
    @sagax.jit
    def nested(c):
        def inner(c, x):
            def body(i, c):
                return slow_step(c, c)[0] + x

            return lax.fori_loop(0, 50, body, c, progress="inner"), None

        return lax.scan(inner, c, XS[:4], progress="outer")

    sagax.block_until_ready(nested(C))
    assert re.search(r"sagax: outer +\d+% \d/4, .* \| inner \d+%", terminal.getvalue())
    assert endings(terminal) == [("outer", 4)]


def test_loops_without_jit_are_counted_too(terminal):
    with sagax.disable_jit():
        found = lax.fori_loop(0, 40, lambda i, c: slow_step(c, c)[0], C, progress="by hand")
        again = lax.scan(lambda c, x: (slow_step(c, x)[0], None), C, XS[:40], progress="scanned")
    assert found.shape == again[0].shape == C.shape
    assert endings(terminal) == [("by hand", 40), ("scanned", 40)]


ON_DEVICES = """
import io, re, sys
import numpy as np
import sagax, sagax.numpy as snp
from sagax import lax
from sagax._src.diagnostics import loop_bars
from sagax.sharding import Mesh, NamedSharding, PartitionSpec

class Terminal(io.StringIO):
    def isatty(self):
        return True

sagax.config.update("num_cpu_devices", 4)
loop_bars._DELAY, loop_bars._EVERY = 0.0, 0.001
spec = PartitionSpec("d")
mesh = Mesh(np.array(sagax.devices()), "d")
x = sagax.device_put(snp.arange(4000.0), NamedSharding(mesh, spec))

def loop(progress):
    return lambda x: lax.fori_loop(0, 4000, lambda i, x: snp.sin(x) + x.mean() + i, x, progress=progress)

def mapped(progress):
    return sagax.shard_map(loop(progress), mesh=mesh, in_specs=spec, out_specs=spec)

for make in (loop, mapped):
    plain = sagax.block_until_ready(sagax.jit(make(False))(x))
    before, sys.stderr = sys.stderr, Terminal()
    shown = sagax.block_until_ready(sagax.jit(make("sharded"))(x))
    text, sys.stderr = sys.stderr.getvalue(), before
    print(np.array_equal(plain, shown), re.findall("sagax: ([^\\r]*) took [^:]* s: ([0-9,]*)", text))
"""


def test_several_devices_have_one_bar(tmp_path):
    environment = {"PYTHONPATH": str(SOURCE), "HOME": str(tmp_path)}
    done = subprocess.run(
        [sys.executable, "-c", ON_DEVICES], capture_output=True, text=True, env=environment
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == ["True [('sharded', '4,000')]"] * 2


def test_two_runs_at_a_time_are_counted_apart(terminal):
    f = sagax.jit(lambda c: lax.scan(slow_step, c, XS, progress="both")[0])
    sagax.block_until_ready(f(C))
    threads = [threading.Thread(target=lambda: sagax.block_until_ready(f(C))) for _ in range(2)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert set(endings(terminal)) == {("both", N)}
    assert not loop_bars._shown.runs


# --- where ------------------------------------------------------------------------------------------------


def test_files_get_nothing_unless_asked_for(terminal, monkeypatch):
    file = io.StringIO()
    use(monkeypatch, file)
    f = sagax.jit(lambda c: lax.scan(slow_step, c, XS, progress="loop"))
    sagax.block_until_ready(f(C))
    assert file.getvalue() == ""
    sagax.config.update("loop_progress", "always")
    try:
        sagax.block_until_ready(f(C))
    finally:
        sagax.config.update("loop_progress", "auto")
    lines = file.getvalue().splitlines()
    assert 2 <= len(lines) <= 11 and "\r" not in file.getvalue()
    assert endings(file) == [("loop", N)]


def test_notebooks_show_bars(terminal, monkeypatch):
    notebook = type("OutStream", (io.StringIO,), {"__module__": "ipykernel.iostream"})()
    use(monkeypatch, notebook)
    sagax.block_until_ready(lax.scan(slow_step, C, XS, progress="cell"))
    assert "\rsagax: cell " in notebook.getvalue() and endings(notebook) == [("cell", N)]


def test_the_option_turns_bars_off(terminal):
    sagax.config.update("loop_progress", "never")
    try:
        found = sagax.block_until_ready(lax.scan(slow_step, C, XS, progress=True))
    finally:
        sagax.config.update("loop_progress", "auto")
    assert found[1].shape == (N, 7) and terminal.getvalue() == ""


def test_short_loops_are_not_shown(monkeypatch, terminal):
    monkeypatch.setattr(loop_bars, "_DELAY", 60.0)
    found = sagax.block_until_ready(lax.scan(slow_step, C, XS, progress=True))
    assert found[1].shape == (N, 7) and terminal.getvalue() == ""


def test_exported_loops_have_no_bar():
    f = sagax.jit(lambda c: lax.scan(step, c, XS, progress=True))
    exported = sagax.export.export(f)(sagax.ShapeDtypeStruct(C.shape, C.dtype))
    assert equal(sagax.export.deserialize(exported.serialize()).call(C), f(C))


def test_jaxprs_say_where_a_bar_is_and_those_without_stay_as_they_are():
    plain = str(sagax.make_jaxpr(lambda c: lax.scan(step, c, XS))(C))
    shown = str(sagax.make_jaxpr(lambda c: lax.scan(step, c, XS, progress="mine"))(C))
    assert "progress" not in plain and "progress[" in shown and "bar=mine" in shown


def test_the_disk_cache_keeps_loops_with_bars(tmp_path):
    program = tmp_path / "program.py"
    program.write_text(
        "import sagax, sagax.numpy as snp\n"
        "def body(i, x):\n    return snp.sin(x) + i\n"
        "f = sagax.jit(lambda x: sagax.lax.fori_loop(0, 100, body, x, progress=True))\n"
        "print(float(f(0.5)))\n"
        "from sagax._src.runtime import compilation_cache\n"
        "found = compilation_cache.statistics()\n"
        "print(found.loaded, found.stored)\n"
    )
    environment = {
        "PYTHONPATH": str(SOURCE),
        "HOME": str(tmp_path),
        "SAGAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS": "0",
        "SAGAX_ENABLE_COMPILATION_CACHE": "1",
    }
    outputs = []
    for _ in range(2):
        done = subprocess.run(
            [sys.executable, str(program)], capture_output=True, text=True, env=environment
        )
        assert done.returncode == 0, done.stderr
        outputs.append(done.stdout.splitlines())
    (first, counts), (second, later) = outputs
    assert first == second
    assert int(counts.split()[1]) >= 1 and int(later.split()[0]) >= 1


# --- how often the host is asked -----------------------------------------------------------------------------


def test_a_run_asks_seldom_however_short_an_iteration_is(monkeypatch, terminal):
    """The clock stands for an executable: each iteration takes `seconds`, each question nothing."""
    now = [0.0]
    monkeypatch.setattr(loop_bars.time, "monotonic", lambda: now[0])
    monkeypatch.setattr(loop_bars._Painter, "start", lambda self: None)
    for seconds, length in ((1e-7, 10**7), (1e-4, 10**5), (0.05, 400), (3.0, 20)):
        bar = loop_bars.LoopBar("loop", length, length)
        number, chunk = bar.request(0, 0, length)
        done = questions = 0
        while done < length:
            assert 1 <= chunk <= length - done
            done += chunk
            now[0] += chunk * seconds
            number, chunk = bar.request(number, chunk, length)
            questions += 1
        assert number == loop_bars.HIDDEN
        # one for each tenth of a second or each iteration, and a few to find the pace
        assert questions <= min(length, length * seconds / 0.1 * 1.1 + 6)
    loop_bars._shown.painter = None


def test_a_loop_that_failed_leaves_the_line(monkeypatch, terminal):
    now = [100.0]
    monkeypatch.setattr(loop_bars.time, "monotonic", lambda: now[0])
    monkeypatch.setattr(loop_bars._Painter, "start", lambda self: None)
    bar = loop_bars.LoopBar("lost", 100, 100)
    number, chunk = bar.request(0, 0, 100)
    now[0] += 0.1
    assert bar.request(number, chunk, 100)[0] == number
    painter = loop_bars._shown.painter
    now[0] += 5.0
    painter._paint(now[0])
    assert number in loop_bars._shown.runs
    now[0] += 60.0
    painter._paint(now[0])
    assert not loop_bars._shown.runs and "lost" in terminal.getvalue()
    assert bar.request(number, 1, 100)[0] == loop_bars.HIDDEN
    loop_bars._shown.painter = None


@pytest.mark.parametrize(
    ("seconds", "text"), [(0.4, "0:00"), (7, "0:07"), (754, "12:34"), (3723, "1:02:03")]
)
def test_durations_are_read_at_a_glance(seconds, text):
    assert loop_bars.clock(seconds) == text


def test_a_python_loop_that_raises_ends_its_bar(terminal):
    def body(i, c):
        if i == 3:
            raise KeyError("planned")
        return c

    with sagax.disable_jit(), pytest.raises(KeyError, match="planned"):
        lax.fori_loop(0, 10, body, C, progress=True)
    assert not loop_bars._shown.runs


# --- errors -----------------------------------------------------------------------------------------------


def test_a_loop_of_unknown_length_has_no_bar():
    with pytest.raises(ValueError, match="max_steps beside it"):
        lax.while_loop(lambda x: x < 3, lambda x: x + 1, 0, progress=True)


@pytest.mark.parametrize("loop", ["scan", "fori_loop"])
def test_a_loop_of_symbolic_length_has_no_bar(loop):
    (n,) = sagax.export.symbolic_shape("n")

    def f(xs):
        if loop == "scan":
            return lax.scan(step, C, xs, progress=True)[0]
        return lax.fori_loop(0, xs.shape[0], lambda i, c: c + i, C, progress=True)

    with pytest.raises(ValueError, match="needs to know the number of iterations"):
        sagax.export.export(sagax.jit(f))(sagax.ShapeDtypeStruct((n,), np.float32))


@pytest.mark.parametrize("progress", [2, None, 1.5, C])
def test_progress_is_a_bool_or_a_name(progress):
    with pytest.raises(TypeError, match="progress"):
        lax.scan(step, C, XS, progress=progress)
