"""Calls of every public function with arguments that mean nothing, or little.

Each call of data/strict_calls.json is changed: an argument is replaced, left out or added, or a keyword gets an
odd value. What they give is not recorded. tests/test_bad_calls.py asks how they are refused.
"""

from __future__ import annotations

import ast
import inspect
import json
import random
import re
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

_CALLS = Path(__file__).resolve().parent / "data" / "strict_calls.json"

VALUES = (
    "None;'abc';{};();[];object();np.array(['a','b']);np.array([None,1],dtype=object);[1.0,'a'];[[1.0,2.0],[3.0]];f;t;te;ve;c;cv;b;bv;i8;bf;h;key"
    ";-99;1.5;np.nan;True;slice(None);np.datetime64('2020-01-01');jnp.float32;abs;-2**40;1j;[1,2];(1,2);[None];[v,f];{'a':v};np.float64(2.5)"
    ";np.uint64(7);np.zeros((4,),np.float64);np.zeros((2,2),np.int64);b'ab';Ellipsis;range(3);iter([1,2]);s;i;iv;sq"
).split(";")
# not of arguments that are sizes: no call is to ask for much memory or time
GREAT = ["99", "1e300", "u32"]
KEYWORDS = (
    "axis=99;axis=-99;axis='x';axis=1.5;axis=None;axis=(0,0);axis=[0];axis=();axis=s;axis=n;axis=np.array([0]);axis=np.array(0);dtype='foo';dtype=object"
    ";dtype=str;dtype='datetime64[s]';dtype=f;dtype=3;dtype=complex;dtype='U4';dtype=jnp.int4;out=v;where=1.5;where='a';where=iv;keepdims='yes'"
    ";size=-1;size='a';size=1.5;size=None;mode='foo';mode=None;mode=3;method='foo';method=None;side='foo';norm='foo';precision='foo';precision=3"
    ";indexing='foo';order='X';order='K';ddof='a';ddof=None;ddof=f;initial='a';initial=f;k=1.5;k='a';k=None;n=1.5;n='a';n=-1;n=0;shape=-1;shape='ab'"
    ";shape=(2,-1);shape=1.5;shape=(2,1.5);shape=v;num=-1;num=1.5;bins='foo';bins=-1;bins=1.5;fill_value='a';fill_value=f;device='foo';device=3"
    ";out_sharding=3;axes='a';axes=99;axes=(0,0);ord='foo';ord=99;ord=1.5;decimals=1.5;decimals='a';side=None;lower='a';trans='Q';trans=9;type=9;type=None"
    ";UPLO='Q';replace='a';p='a';p=v;weights='a';weights=f;minlength=-1;length=-1;length=1.5;deg=-1;deg='a';deg=1.5;window='foo';nperseg=-1;nperseg=0"
    ";preferred_element_type='foo';loc='a';scale=None;offset=1.5;offset='a';axis1=99;axis1=None;axis2=1;edge_order=3;dx='a';num_classes=-1;num_classes=1.5"
    ";approximate='foo';b='a';rcond='a';tol=None;rtol='a';nan='a';return_counts='a';total_repeat_length=-1;period=0;period='a';left='a';range='ab';range=(1,)"
    ";minval='a';maxval=f;count=-1;bitorder='foo';prepend='a';append=f;N=-1;N=1.5;M='a';foo=1"
).split(";")
_SIZES = set(
    "gcd lcm arange linspace logspace geomspace bartlett blackman hamming hanning kaiser tri eye identity ones zeros full empty indices repeat tile pad"
    " diag diagflat bincount resize vander one_hot iota broadcasted_iota bernoulli factorial mask_indices tril_indices triu_indices fftfreq rfftfreq"
    " unpackbits packbits hilbert hankel toeplitz pascal dft hadamard invhilbert invpascal helmert hyp2f1 companion leslie fiedler".split()
)


def calls(names: dict[str, Any]) -> Iterator[str]:
    """Make the calls; `names` are those that their texts use, operands included."""
    for base in json.loads(_CALLS.read_text(encoding="utf-8")):
        if re.fullmatch(r"[\w.]+\(.*\)", base):
            tree = ast.parse(base, mode="eval").body
            if isinstance(tree, ast.Call) and all(k.arg for k in tree.keywords):
                yield from dict.fromkeys(
                    _changed(tree, names, random.Random(zlib.crc32(base.encode())))
                )


def _changed(tree: ast.Call, names: dict[str, Any], rng: random.Random) -> Iterator[str]:
    head = ast.unparse(tree.func)
    given = [ast.unparse(a) for a in tree.args]
    named = {str(k.arg): ast.unparse(k.value) for k in tree.keywords}

    def text(given: list[str], named: dict[str, str]) -> str:
        return f"{head}({', '.join([*given, *(f'{n}={v}' for n, v in named.items())])})"

    values = VALUES if head.rsplit(".", 1)[-1] in _SIZES else VALUES + GREAT
    for k in range(len(given)):
        for value in rng.sample(values, 6):
            yield text([*given[:k], value, *given[k + 1 :]], named)
    for name in named:
        for value in rng.sample(values, 2):
            yield text(given, {**named, name: value})
    if given:
        yield text(given[:-1], named)
        yield text(given[1:], named)
    yield text([*given, rng.choice(["v", "None", "1", "'a'"])], named)
    try:
        parameters = list(inspect.signature(eval(head, names)).parameters)
    except (TypeError, ValueError):
        parameters = []
    free = set(parameters[len(given) :]) - named.keys() | {"foo"}
    fitting = [k for k in KEYWORDS if k.split("=")[0] in free]
    for keyword in rng.sample(fitting, min(8, len(fitting))):
        name, value = keyword.split("=", 1)
        yield text(given, {**named, name: value})
