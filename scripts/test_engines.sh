#!/bin/sh
# Runs the tests on both ends of the supported engine range and one version between them, each in an
# environment of its own. Arguments go to pytest. A version whose Python is not on this machine is named
# and left out; exit status 1 when a suite fails or none could run.

set -u
cd "$(dirname "$0")/.." || exit 1
jobs="${JOBS:-2}"
ran=0
failed=""
missing=""

test_engine() { # test_engine MINOR JAXLIB [pytest arguments]
    minor=$1
    engine=$2
    shift 2
    name="Python $minor with jaxlib $engine"
    venv=".venv-engine-$minor-$(echo "$engine" | tr -d '.*')"
    if [ ! -e "$venv/.done" ] || [ pyproject.toml -nt "$venv/.done" ]; then
        if ! python=$(REQUIREMENT="jaxlib==$engine" sh scripts/find_python.sh "$minor"); then
            missing="$missing\n  $name"
            return
        fi
        echo "making $venv with $python"
        if ! { "$python" -m venv --clear "$venv" &&
            "$venv/bin/python" -m pip install -qq --disable-pip-version-check \
                --editable '.[examples,test]' "jaxlib==$engine" && touch "$venv/.done"; }; then
            failed="$failed\n  $name (installation)"
            return
        fi
    fi
    echo "== $name"
    ran=$((ran + 1))
    "$venv/bin/python" -m pytest -n "$jobs" "$@" || failed="$failed\n  $name"
}

test_engine 3.11 0.10.2 "$@"
test_engine 3.12 0.11.2 "$@"
test_engine 3.12 '0.12.*' "$@"

[ -z "$missing" ] || printf "Not run, because no such Python (or engine for it) was found:$missing\n"
[ -z "$failed" ] || printf "Failed:$failed\n"
[ "$ran" -gt 0 ] && [ -z "$failed" ]
