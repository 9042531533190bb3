"""Test exceptions of signal handlers where NumPy or the engine would drop them."""

from __future__ import annotations

import gc
import signal
import sys

import numpy as np
import pytest

import sagax
import sagax.numpy as snp
from sagax._src import config
from sagax._src.callbacks import active_calls
from sagax._src.runtime.array import ConcreteArray
from sagax._src.xla import original_error


class FromHandler(BaseException):
    """What a signal handler raises."""


@pytest.fixture
def interrupted_once(monkeypatch):
    """Let the next conversion to NumPy be interrupted, as by a signal handler that runs in it."""
    real, left = ConcreteArray._numpy, [1]

    def _numpy(self):
        if left:
            left.pop()
            raise FromHandler("now")
        return real(self)

    monkeypatch.setattr(ConcreteArray, "_numpy", _numpy)


def test_numpy_asks_again_and_gets_the_exception(interrupted_once):
    x = snp.arange(3.0) * 2
    with pytest.raises(FromHandler, match="now"):
        np.asarray(x)
    np.testing.assert_array_equal(np.asarray(x), [0, 2, 4])


@pytest.mark.skipif(sys.version_info < (3, 12), reason="before 3.12 classes define no buffers")
def test_an_exception_that_arrived_is_not_raised_again(interrupted_once):
    x = snp.arange(3.0) * 2
    with pytest.raises(FromHandler):
        memoryview(x)
    np.testing.assert_array_equal(x.__array__(), [0, 2, 4])


def test_dtypes_without_a_letter_of_buffers_still_convert():
    x = snp.ones(2, snp.bfloat16)
    if sys.version_info >= (3, 12):
        with pytest.raises(BufferError):
            memoryview(x)
    assert np.asarray(x).tolist() == [1, 1]


_TEXT = (
    "INTERNAL: CpuCallback error calling callback: Traceback (most recent call last):\n"
    '  File "callbacks.py", line 71, in call\n  File "script.py", line 4, in handler\n'
)


class TwoArguments(BaseException):
    """An exception that a text alone does not make."""

    def __init__(self, one, two):
        super().__init__(one, two)


@pytest.mark.parametrize(
    ("end", "kind", "args"),
    [
        ("FromHandler: \n", FromHandler, ()),
        ("FromHandler: now", FromHandler, ("now",)),
        ("KeyboardInterrupt: ", KeyboardInterrupt, ()),
        ("TwoArguments: ('a', 'b')", TwoArguments, ()),
    ],
)
def test_an_exception_that_the_engine_words_is_made_again(end, kind, args):
    gc.collect()  # the name is that of one class only
    found = original_error(RuntimeError(_TEXT + end))
    assert type(found).__name__ == kind.__name__
    assert found.args == args


def test_of_classes_of_one_name_the_one_where_it_was_raised():
    other = type("FromHandler", (Exception,), {})
    text = _TEXT.replace("script.py", __file__) + "FromHandler: now"
    assert type(original_error(RuntimeError(text))) is FromHandler is not other
    error = RuntimeError(_TEXT + "FromHandler: now")
    assert original_error(error) is error  # it may be either


def test_an_unknown_name_stays_the_error_of_the_engine():
    error = RuntimeError(_TEXT + "NobodyKnowsThis: now")
    assert original_error(error) is error


def test_a_callback_that_is_interrupted_leaves_no_mark():
    before = dict(active_calls.active_calls)

    def work():
        raise FromHandler

    with pytest.raises(FromHandler):
        active_calls.call_tracked("outer", lambda: active_calls.call_tracked("inner", work))
    assert active_calls.active_calls == before
    assert active_calls.call_tracked("outer", active_calls.innermost_call) == "outer"


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="the system has no interval timers")
def test_signals_during_callbacks_arrive_as_themselves():
    f = sagax.jit(
        lambda x: sagax.pure_callback(lambda x: x, sagax.ShapeDtypeStruct((3,), np.float32), x)
    )
    x = snp.ones(3)
    np.testing.assert_array_equal(f(x), [1, 1, 1])
    settings, entered = config.current(), config.thread.entered

    def handler(*_):
        raise FromHandler

    rng, arrived = np.random.default_rng(0), 0
    before = signal.signal(signal.SIGALRM, handler)
    try:
        for _ in range(200):
            try:
                signal.setitimer(signal.ITIMER_REAL, rng.uniform(5e-5, 4e-4))
                for _ in range(3000):
                    f(x)
            except FromHandler:
                arrived += 1
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    assert arrived >= 190  # all but a few in garbage collection, where Python drops exceptions
    assert (config.current(), config.thread.entered) == (settings, entered)  # none is left behind
    np.testing.assert_array_equal(f(x), [1, 1, 1])
