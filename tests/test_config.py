"""Settings: options and their values, threads, contexts, the environment."""

import asyncio
import copy
import json
import pickle
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from sagax._src import config as settings
from sagax._src.config import config, context, current, from_environment, update

JAX = json.loads((Path(__file__).parent / "data" / "config.json").read_text())
OTHER_VALUES = {
    "array_garbage_collection_guard": "log",
    "default_device": "cpu",
    "default_matmul_precision": "highest",
    "default_prng_impl": "rbg",
    "legacy_prng_key": "warn",
    "numpy_dtype_promotion": "strict",
    "numpy_rank_promotion": "raise",
    "transfer_guard_device_to_device": "log",
    "transfer_guard_device_to_host": "disallow",
    "transfer_guard_host_to_device": "allow",
}


@pytest.fixture(autouse=True)
def _settings_of_the_process(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Each test begins with the defaults, and leaves things as they were."""
    monkeypatch.setattr(settings.process, "settings", from_environment({}))
    monkeypatch.setattr(settings, "_fixed", {})  # as before any device was started
    yield
    assert settings.thread.entered == ()


def in_thread(function):
    """The result of a call in a new thread."""
    results = []
    worker = threading.Thread(target=lambda: results.append(function()))
    worker.start()
    worker.join()
    return results[0]


# --- values ------------------------------------------------------------------------------------


def test_settings_are_interned():
    default = current()
    x64 = default.replace(x64=True)
    assert x64 is not default
    assert x64 is default.replace(x64=True)
    assert x64.replace(x64=False) is default


def test_settings_cannot_be_changed():
    with pytest.raises(AttributeError):
        current().x64 = True


def test_key_holds_what_changes_programs_and_nothing_else():
    default = current()
    assert default.key is default
    assert default.replace(x64=True).key is default.replace(x64=True)
    assert default.replace(x64=True, debug_nans=True).key is default.replace(x64=True)
    assert default.replace(log_compiles=True, default_device="cpu").key is default


def test_copies_of_settings_are_the_same_object():
    x64 = current().replace(x64=True)
    assert copy.copy(x64) is x64
    assert copy.deepcopy(x64) is x64
    assert pickle.loads(pickle.dumps(x64)) is x64


def test_repr_shows_what_is_not_default():
    assert repr(current().replace(x64=True)) == "Settings(x64=True)"


def test_threads_that_make_the_same_settings_get_one_object():
    # Values that no other test uses, made by several threads at the same time.
    barrier = threading.Barrier(4)
    made: list[list[int]] = []

    def make():
        barrier.wait()
        made.append([id(current().replace(random_seed_offset=n)) for n in range(1000, 1300)])

    workers = [threading.Thread(target=make) for _ in range(4)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert made[0] == made[1] == made[2] == made[3]


# --- options -----------------------------------------------------------------------------------


# Compiled programs are kept on disk by default here: every one that is worth it, up to a bound.
OTHER_DEFAULTS = {
    "jax_persistent_cache_min_compile_time_secs": 0.0,
    "jax_compilation_cache_max_size": 2**31,
}


@pytest.mark.parametrize("name", JAX["defaults"])
def test_every_option_of_jax_has_its_default(name):
    assert config.read(name) == OTHER_DEFAULTS.get(name, JAX["defaults"][name])


@pytest.mark.parametrize("name", JAX["defaults"])
def test_every_option_of_jax_can_be_set(name):
    default = config.read(name)
    update(name, default)
    assert current() is from_environment({})
    option = settings._find(name)
    if isinstance(default, bool):
        update(name, not default)
        assert config.read(name) is (not default)
    elif isinstance(default, (int, float)):
        update(name, default + 1)
        assert config.read(name) == default + 1
        with pytest.raises(ValueError, match=option.name):
            update(name, "many")
    with pytest.raises(ValueError, match=option.name):
        update(name, object())


@pytest.mark.parametrize("name", JAX["contexts"])
def test_every_context_manager_of_jax_is_there(name):
    state = getattr(settings, name)
    before = state.value
    value = not before if isinstance(before, bool) else OTHER_VALUES[name]
    with state(value):
        assert state.value == value
    assert state.value == before


@pytest.mark.parametrize("name", ["x64", "enable_x64", "jax_enable_x64", "jax_x64"])
def test_an_option_goes_by_our_name_and_by_that_of_jax(name):
    update(name, True)
    assert current().x64 is True
    assert getattr(config, name) is True
    assert config.values["jax_enable_x64"] is True
    assert name in dir(config)


def test_ignored_options_keep_their_values_apart():
    update("jax_use_magma", "on")
    with context(scan3=True):
        assert config.jax_use_magma == "on"
        assert config.scan3 is True
    assert config.scan3 is False
    assert current().key is from_environment({})  # they change no program
    update("jax_use_magma", "auto")
    assert current() is from_environment({})


@pytest.mark.parametrize(
    ("name", "near"),
    [
        ("jax_enable_x46", "x64"),
        ("debug_nan", "debug_nans"),
        ("jax_numpy_dtype_promotions", "numpy_dtype_promotion"),
    ],
)
def test_unknown_names_get_the_nearest_ones(name, near):
    for use in (
        lambda: update(name, True),
        lambda: context(**{name: True}),
        lambda: getattr(config, name),
        lambda: config.read(name),
    ):
        with pytest.raises(AttributeError) as error:
            use()
        assert repr(name) in str(error.value)
        assert repr(near) in str(error.value)


def test_an_unknown_name_that_resembles_nothing():
    with pytest.raises(AttributeError, match=r"no option 'qqq': see sagax\.config\.values"):
        update("qqq", 1)


@pytest.mark.parametrize(
    ("name", "value", "words"),
    [
        ("x64", "yes", "True or False"),
        ("x64", None, "True or False"),
        ("x64", 2, "True or False"),
        ("x64", 1.0, "True or False"),
        ("numpy_dtype_promotion", "stricter", "'standard', 'strict'"),
        ("numpy_rank_promotion", True, "'allow', 'warn', 'raise'"),
        ("default_matmul_precision", "fast", "'tensorfloat32'"),
        ("default_prng_impl", None, "'threefry2x32'"),
        ("captured_constants_warn_bytes", 1.5, "an int"),
        ("captured_constants_warn_bytes", True, "an int"),
        ("persistent_cache_min_compile_time_secs", "1", "a number"),
        ("default_device", 3, "a device"),
        ("default_device", "", "a device"),
        ("platforms", ["cpu"], "a str, or None"),
        ("transfer_guard", "forbid", "'disallow'"),
        ("jax_use_magma", "perhaps", "'auto'"),
    ],
)
def test_bad_values_are_refused(name, value, words):
    before = current()
    for use in (lambda: update(name, value), lambda: context(**{name: value})):
        with pytest.raises(ValueError, match="must be") as error:
            use()
        assert words in str(error.value)
        assert repr(value) in str(error.value)
        assert settings._find(name).name in str(error.value)
    assert current() is before


def test_values_are_brought_to_one_form(tmp_path):
    import numpy as np

    for true in (True, 1, np.True_):
        assert current().replace(x64=True) is settings._applied(
            current(), settings._changes("x64", true)
        )
    update("numpy_dtype_promotion", "STRICT")
    assert current().numpy_dtype_promotion == "strict"
    update("default_device", "CPU")
    assert current().default_device == "cpu"
    update("jax_compilation_cache_dir", tmp_path)
    assert current().compilation_cache_dir == str(tmp_path)
    update("persistent_cache_min_compile_time_secs", 0)
    assert type(current().persistent_cache_min_compile_time_secs) is float


def test_a_device_is_known_by_its_platform():
    class Device:
        platform = "cpu"

    device = Device()
    with context(default_device=device):
        assert current().default_device is device
    with pytest.raises(ValueError, match="a device"):
        update("default_device", Device)  # the class, not a device


def test_the_guard_of_all_directions():
    with settings.transfer_guard("disallow"):
        now = current()
        assert now.transfer_guard_host_to_device == "disallow"
        assert now.transfer_guard_device_to_device == "disallow"
        assert now.transfer_guard_device_to_host == "disallow"
        assert config.jax_transfer_guard == "disallow"
        with settings.transfer_guard_device_to_host("allow"):
            assert current().transfer_guard_device_to_host == "allow"
            assert current().transfer_guard_host_to_device == "disallow"
            assert config.jax_transfer_guard is None
    assert current().transfer_guard_host_to_device is None


def test_options_are_not_set_as_attributes():
    with pytest.raises(AttributeError, match=r"config\.update\('x64', True\)"):
        config.x64 = True
    with pytest.raises(AttributeError, match=r"config\.update\('nonsense', 1\)"):
        config.nonsense = 1


# --- contexts ----------------------------------------------------------------------------------


def test_contexts_nest():
    with context(x64=True, debug_nans=True):
        with context(x64=False):
            assert (current().x64, current().debug_nans) == (False, True)
        assert (current().x64, current().debug_nans) == (True, True)
    assert current() is from_environment({})


def test_a_context_ends_with_an_error():
    with pytest.raises(KeyError), context(x64=True):
        raise KeyError
    assert current().x64 is False


def test_a_context_can_be_entered_within_itself_and_again():
    x64 = context(x64=True)
    with x64:
        with x64:
            pass
        assert current().x64 is True
    assert current().x64 is False
    with x64:
        assert current().x64 is True


def test_a_context_as_decorator():
    @settings.enable_x64(True)
    def answer(a, *, b):
        """Says what it sees."""
        return a, b, current().x64

    assert answer(1, b=2) == (1, 2, True)
    assert (answer.__name__, answer.__doc__) == ("answer", "Says what it sees.")
    assert current().x64 is False


def test_update_within_a_context_shows_at_once_and_stays():
    with context(x64=True):
        update("debug_nans", True)
        update("x64", False)  # for the process; the block has its own
        assert (current().x64, current().debug_nans) == (True, True)
        assert in_thread(current) is from_environment({}).replace(debug_nans=True)
    assert (current().x64, current().debug_nans) == (False, True)


def test_generators_may_leave_their_contexts_in_any_order():
    def inside(**changes):
        with context(**changes):
            yield

    a, b = inside(x64=True), inside(debug_nans=True)
    next(a), next(b)
    a.close()
    assert (current().x64, current().debug_nans) == (False, True)
    b.close()
    assert current() is from_environment({})


def test_tasks_that_take_turns_in_a_thread_have_contexts_of_their_own():
    async def inside(entered, looked):
        with context(x64=True):
            entered.set()
            await looked.wait()
            return current().x64

    async def outside(entered, looked):
        await entered.wait()
        found = current().x64, await asyncio.to_thread(lambda: current().x64)
        looked.set()
        return found

    async def both():
        events = asyncio.Event(), asyncio.Event()
        return await asyncio.gather(inside(*events), outside(*events))

    assert asyncio.run(both()) == [True, (False, False)]


def test_a_context_left_in_another_thread_is_an_error():
    x64 = context(x64=True)
    x64.__enter__()
    try:

        def leave():
            with pytest.raises(RuntimeError, match="by a thread that had not entered it"):
                x64.__exit__(None, None, None)
            return True

        assert in_thread(leave)
    finally:
        x64.__exit__(None, None, None)


def test_a_block_whose_entry_fails_is_not_open(monkeypatch):
    def interrupted(*_):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(settings, "_applied", interrupted)
        with pytest.raises(KeyboardInterrupt), context(x64=True):
            raise AssertionError("the block was entered")
    assert settings.thread.entered == ()
    assert current() is from_environment({})


def test_contexts_show_what_they_set():
    assert repr(context(x64=True, transfer_guard_device_to_host="log")) == (
        "context(x64=True, transfer_guard_device_to_host='log')"
    )


def test_states_say_their_value_and_are_not_truth_values():
    assert settings.enable_x64.name == "jax_enable_x64"
    assert settings.enable_x64.value is False
    assert "x64" in settings.enable_x64.__doc__
    with pytest.raises(TypeError, match=r"sagax\.config\.x64"):
        bool(settings.enable_x64)
    with pytest.raises(ValueError, match="must be one of"):
        settings.numpy_dtype_promotion()  # only flags have a value to assume


def test_flags_are_set_where_no_value_is_given():
    with settings.log_compiles(), settings.disable_jit(), settings.checking_leaks():
        now = current()
        assert now.log_compiles and now.disable_jit and now.check_tracer_leaks
        with settings.disable_jit(False):
            assert not current().disable_jit


# --- threads -----------------------------------------------------------------------------------


def test_a_thread_starts_from_the_process_and_not_from_the_contexts_of_another():
    update("debug_nans", True)
    with context(x64=True):
        assert in_thread(lambda: (current().x64, current().debug_nans)) == (False, True)


def test_an_update_reaches_threads_that_run_and_spares_their_contexts():
    entered, updated = threading.Event(), threading.Event()
    seen = []

    def work():
        seen.append(current().debug_nans)
        with context(x64=True):
            entered.set()
            updated.wait()
            with context(log_compiles=True):
                seen.append((current().x64, current().debug_nans))
        seen.append((current().x64, current().debug_nans))

    worker = threading.Thread(target=work)
    worker.start()
    entered.wait()
    update("debug_nans", True)
    updated.set()
    worker.join()
    assert seen == [False, (True, True), (False, True)]


def test_contexts_of_many_threads_do_not_meet():
    wrong = []

    def work(offset):
        for n in range(200):
            with context(random_seed_offset=offset + n, x64=bool(n % 2)):
                now = current()
                if (now.random_seed_offset, now.x64) != (offset + n, bool(n % 2)):
                    wrong.append((offset, n, now))

    workers = [threading.Thread(target=work, args=(10_000 * i,)) for i in range(1, 5)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert wrong == []
    assert current() is from_environment({})


# --- environment -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("environ", "name", "value"),
    [
        ({"JAX_ENABLE_X64": "1"}, "x64", True),
        ({"JAX_ENABLE_X64": "True"}, "x64", True),
        ({"JAX_ENABLE_X64": "off"}, "x64", False),
        ({"SAGAX_X64": "yes"}, "x64", True),
        ({"SAGAX_ENABLE_X64": "yes"}, "x64", True),
        ({"SAGAX_X64": "0", "JAX_ENABLE_X64": "1"}, "x64", False),
        ({"JAX_ENABLE_X64": "1", "SAGAX_X64": "0"}, "x64", False),
        ({"JAX_NUMPY_DTYPE_PROMOTION": "strict"}, "numpy_dtype_promotion", "strict"),
        ({"JAX_DEFAULT_MATMUL_PRECISION": "none"}, "matmul_precision", None),
        ({"JAX_DEFAULT_MATMUL_PRECISION": "highest"}, "matmul_precision", "highest"),
        ({"JAX_PLATFORMS": "cuda,cpu"}, "platforms", "cuda,cpu"),
        ({"JAX_NUM_CPU_DEVICES": "8"}, "num_cpu_devices", 8),
        ({"SAGAX_CACHE_DIR": "/tmp/a"}, "compilation_cache_dir", "/tmp/a"),
        ({"JAX_COMPILATION_CACHE_DIR": "/tmp/a"}, "compilation_cache_dir", "/tmp/a"),
        ({"JAX_TRANSFER_GUARD": "log"}, "transfer_guard_device_to_host", "log"),
        ({"JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS": "0.5"},
         "persistent_cache_min_compile_time_secs", 0.5),
    ],
)  # fmt: skip
def test_environment(environ, name, value):
    assert getattr(from_environment(environ), name) == value


def test_other_variables_do_not_matter():
    environ = {"JAX_FOO": "1", "X64": "1", "JAX": "1", "SAGAX_": "1", "HOME": "/"}
    assert from_environment(environ) is from_environment({})


@pytest.mark.parametrize(
    ("variable", "words", "expected"),
    [
        ("JAX_ENABLE_X64", "maybe", "True or False"),
        ("JAX_ENABLE_X64", "", "True or False"),
        ("SAGAX_NUMPY_RANK_PROMOTION", "never", "'allow', 'warn', 'raise'"),
        ("JAX_NUM_CPU_DEVICES", "two", "an int"),
    ],
)
def test_bad_environment(variable, words, expected):
    with pytest.raises(ValueError, match=variable) as error:
        from_environment({variable: words})
    assert expected in str(error.value)
    assert repr(words) in str(error.value)


def test_the_environment_is_read_at_import():
    program = "from sagax._src.config import current; print(current())"
    command = [sys.executable, "-c", program]
    source = str(Path(settings.__file__).parents[2])
    environ = {"PYTHONPATH": source, "SAGAX_X64": "1"}
    run = subprocess.run(command, env=environ, capture_output=True, text=True, check=False)
    assert (run.stdout, run.stderr) == ("Settings(x64=True)\n", "")
    environ["SAGAX_X64"] = "perhaps"
    run = subprocess.run(command, env=environ, capture_output=True, text=True, check=False)
    assert run.stderr.endswith(
        "ValueError: the environment variable SAGAX_X64 must be True or False, or 'explicit'; it is 'perhaps'\n"
    )


# --- what comes too late -------------------------------------------------------------------------


def test_options_that_are_fixed_take_only_what_fits():
    settings.fix("num_cpu_devices", "the CPU has been started", lambda n: n in (-1, 2))
    update("num_cpu_devices", 2)
    update("num_cpu_devices", -1)
    with pytest.raises(
        RuntimeError, match="because the CPU has been started.*JAX_NUM_CPU_DEVICES=3"
    ):
        update("num_cpu_devices", 3)
    assert current().num_cpu_devices == -1
    update("jax_debug_nans", True)  # others are free


def test_a_bad_variable_stops_the_import_but_not_the_doctor(monkeypatch):
    monkeypatch.setenv("JAX_DEBUG_NANS", "perhaps")
    monkeypatch.setattr(sys, "argv", ["program.py"])
    with pytest.raises(ValueError, match="JAX_DEBUG_NANS must be True or False; it is 'perhaps'"):
        settings._at_start()
    monkeypatch.setattr(sys, "argv", ["-m", "doctor"])
    assert settings._at_start() is from_environment({})
