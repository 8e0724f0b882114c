"""Random files that are no table, not quite one, or one in disguise."""

from __future__ import annotations

import gzip
import io
import zipfile

import numpy as np

Content = tuple[str, bytes]


def hostile_file(rng: np.random.Generator) -> Content:
    """The ending and the content of a file."""
    makers = (_text, _text, _text, _binary, _packed, _wrapped, _arrays, _archive)
    return makers[rng.integers(len(makers))](rng)


def _rows(rng: np.random.Generator, sep: str = ",", n_rows: int = 30) -> list[str]:
    states = rng.integers(0, 2, n_rows)
    values = 6.0 * states[:, None] + rng.normal(size=(n_rows, 3))
    return [sep.join(f"{value:.3f}" for value in row) for row in values]


def _text(rng: np.random.Generator) -> Content:
    """A table of text with one thing wrong or strange about it."""
    sep = str(rng.choice([",", ";", "\t", " ", "|"]))
    head, rows = sep.join("abc"), _rows(rng, sep)
    place = int(rng.integers(len(rows)))
    strange = {
        "as it is": lambda: [head, *rows],
        "header only": lambda: [head],
        "nothing": list,
        "no header": lambda: rows,
        "ragged": lambda: [head, *rows[:place], rows[place] + sep + "9", *rows[place:]],
        "short row": lambda: [head, *rows[:place], "1", *rows[place:]],
        "doubled name": lambda: [sep.join("aab"), *rows],
        "empty name": lambda: [sep.join(["a", "", "b"]), *rows],
        "hostile name": lambda: [sep.join(["=1+1", "<script>", "x" * 5000]), *rows],
        "huge line": lambda: [head, "1" * 300_000, *rows],
        "open quote": lambda: [head, '"' + rows[0], *rows],
        "words": lambda: [head, *(row.replace("1", "one") for row in rows)],
        "nul": lambda: [head, *(row.replace(".", "\0") for row in rows)],
        "decimal comma": lambda: [head, *(row.replace(".", ",") for row in rows)],
        "numbers as names": lambda: [sep.join("123"), *rows],
        "many columns": lambda: [sep.join(map(str, range(3000))), sep.join(["1"] * 3000)],
        "missing words": lambda: [head, *(row.replace("-", "NA") for row in rows)],
    }
    kind = "as it is" if rng.random() < 0.3 else str(rng.choice(list(strange)))
    lines = strange[kind]()
    text = str(rng.choice(["\n", "\r\n", "\r"])).join(lines)
    encodings = ("utf-8", "utf-8-sig", "utf-16", "latin-1", "utf-32")
    content = text.encode(str(rng.choice(encodings, p=[0.6, 0.1, 0.1, 0.1, 0.1])), "replace")
    return str(rng.choice([".csv", ".tsv", ".txt"])), content


def _binary(rng: np.random.Generator) -> Content:
    endings = (".csv", ".parquet", ".npz", ".npy", ".xlsx", ".feather", ".csv.gz", ".pkl", "")
    return str(rng.choice(endings)), rng.bytes(int(rng.integers(0, 3000)))


def _packed(rng: np.random.Generator) -> Content:
    _, content = _text(rng)
    packed = gzip.compress(content)
    cut = packed[: rng.integers(len(packed))] if rng.random() < 0.5 else packed
    return ".csv.gz", cut


def _wrapped(rng: np.random.Generator) -> Content:
    """A real table under the ending of another format."""
    content = "\n".join(["a,b,c", *_rows(rng)]).encode()
    return str(rng.choice([".parquet", ".npz", ".xlsx", ".feather", ".tsv", ".json"])), content


def _arrays(rng: np.random.Generator) -> Content:
    buffer = io.BytesIO()
    kind = rng.integers(5)
    if kind == 0:
        np.savez(buffer, X=rng.normal(size=(30, 3)), Y=rng.normal(size=(29, 2)))
    elif kind == 1:
        np.savez(buffer, X=np.array([{}, 1], dtype=object))
    elif kind == 2:
        np.savez(buffer, X=rng.normal(size=(30, 3)) + 1j)
    elif kind == 3:
        np.savez(buffer, X=rng.normal(size=(4, 3, 2)), Y=np.float64(1))
    else:
        np.savez_compressed(buffer, X=rng.normal(size=(30, 3)), names=np.array(["a", "b", "c"]))
    packed = buffer.getvalue()
    return ".npz", packed[: rng.integers(len(packed))] if rng.random() < 0.3 else packed


def _archive(rng: np.random.Generator) -> Content:
    """A zip with something else in it, or with an array that declares too much."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        if rng.random() < 0.5:
            archive.writestr("../escape.npy", b"x")
        else:
            header = io.BytesIO()
            declared = {"descr": "<f8", "fortran_order": False, "shape": (2**40, 3)}
            np.lib.format.write_array_header_1_0(header, declared)
            archive.writestr("X.npy", header.getvalue())
    return str(rng.choice([".npz", ".xlsx"])), buffer.getvalue()
