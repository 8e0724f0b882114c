"""BIF: the latents as a Bayesian network, for pyAgrum, pgmpy, SamIam, GeNIe and others.

BIF holds a DAG with one conditional table for each node. Λ is an equivalence class, so one of its
members is written (a comment says so and how many there are) with P(H) factorised along it: all
members give the same joint distribution, but only the class says which arrows are known. Γ and
the components have no place in the format.

Variables are identifiers in BIF. A latent with another name gets one close to it, and its own
name as a property, percent-encoded, from which :func:`read_bif` restores it. Where P(H) never
shows a configuration of parents, the table is uniform.

Numbers are written with all their digits. pyAgrum's reader of this format keeps them in single
precision (some 1e-8); :mod:`mixoracle.model.export.xmlbif` is read exactly.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import product
from urllib.parse import quote, unquote

import numpy as np
from numpy.typing import NDArray

from mixoracle.errors import FileFormatError, InvalidInputError
from mixoracle.model import LatentModel
from mixoracle.model.export.names import identifiers
from mixoracle.model.export.network import LatentNetwork, assemble, family_table
from mixoracle.model.factorisation import parents_of

_KEYWORDS = ("network", "variable", "probability", "property", "type", "discrete", "table")
_TOKEN = re.compile(r'"[^"]*"|[{}()\[\]|,;=]|[^\s{}()\[\]|,;="]+')
_COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)
_NAME_PROPERTY = "name"


def to_bif(model: LatentModel) -> str:
    """Write P(H) along one member of Λ as BIF."""
    edges = model.latent_graph.extension()
    names = identifiers(model.latent_names, reserved=_KEYWORDS)
    size = model.latent_graph.size
    note = f"// one of {size} equivalent DAGs; all have this joint distribution"
    blocks = [note, "network mixoracle {\n}"]
    for name, original, states in zip(names, model.latent_names, model.domain_sizes, strict=True):
        labels = ", ".join(f"s{state}" for state in range(states))
        kept = f'  property {_NAME_PROPERTY} = "{quote(original, safe="")}" ;\n'
        blocks.append(
            f"variable {name} {{\n  type discrete [ {states} ] {{ {labels} }};\n"
            f"{kept if name != original else ''}}}"
        )
    for node, parents in enumerate(parents_of(edges, model.n_latent)):
        blocks.append(_probability(model, names, node, parents))
    return "\n".join(blocks) + "\n"


def _probability(model: LatentModel, names: list[str], node: int, parents: list[int]) -> str:
    rows = family_table(model, node, parents)
    if not parents:
        return f"probability ( {names[node]} ) {{\n  table {_numbers(rows)};\n}}"
    lines = [f"probability ( {names[node]} | {', '.join(names[j] for j in parents)} ) {{"]
    for states in product(*(range(model.domain_sizes[j]) for j in parents)):
        given = ", ".join(f"s{state}" for state in states)
        lines.append(f"  ({given}) {_numbers(rows[states])};")
    return "\n".join([*lines, "}"])


def _numbers(row: NDArray[np.float64]) -> str:
    return ", ".join(repr(float(value)) for value in row)


def read_bif(text: str) -> LatentNetwork:
    """Read a discrete network in BIF, ours or one whose conditional tables list their rows."""
    try:
        reader = _Reader(text)
        reader.read()
        return reader.network()
    except StopIteration:
        raise FileFormatError("this BIF is cut off: it ends inside a block") from None
    except InvalidInputError as error:
        raise FileFormatError(f"this BIF holds no Bayesian network: {error}") from error


class _Reader:
    """A reader of BIF blocks, token by token."""

    def __init__(self, text: str) -> None:
        self._tokens: Iterator[str] = iter(_TOKEN.findall(_COMMENT.sub(" ", text)))
        self._states: dict[str, list[str]] = {}
        self._names: dict[str, str] = {}
        self._tables: dict[str, tuple[list[str], NDArray[np.float64]]] = {}

    def read(self) -> None:
        blocks = {
            "network": self._skip_network,
            "variable": self._read_variable,
            "probability": self._read_probability,
        }
        for token in self._tokens:
            if token not in blocks:
                raise FileFormatError(
                    f"expected 'network', 'variable' or 'probability' in BIF; got {token!r}"
                )
            blocks[token]()

    def network(self) -> LatentNetwork:
        """Multiply the tables that were read."""
        sizes = {name: len(states) for name, states in self._states.items()}
        return assemble(sizes, self._tables, self._names)

    def _until(self, *ends: str) -> list[str]:
        """The tokens before one of ``ends``, which is consumed, without commas."""
        found = []
        while (token := next(self._tokens)) not in ends:
            if token != ",":
                found.append(token)
        return found

    def _expect(self, wanted: str) -> None:
        token = next(self._tokens)
        if token != wanted:
            raise FileFormatError(f"expected {wanted!r} in BIF; got {token!r}")

    def _skip_network(self) -> None:
        self._until("{")
        self._until("}")

    def _read_variable(self) -> None:
        name = next(self._tokens)
        self._expect("{")
        while (token := next(self._tokens)) != "}":
            if token == "type":
                self._expect("discrete")
                self._expect("[")
                n_states = self._until("]")
                self._expect("{")
                self._states[name] = self._until("}")
                self._expect(";")
                if n_states != [str(len(self._states[name]))]:
                    raise FileFormatError(
                        f"{name} should list {' '.join(n_states)} states; "
                        f"it lists {len(self._states[name])}"
                    )
            elif token == "property":
                words = self._until(";")
                if words[:2] == [_NAME_PROPERTY, "="] and len(words) == 3:
                    self._names[name] = unquote(words[2].strip('"'))
            else:
                raise FileFormatError(f"expected 'type' or 'property' for {name}; got {token!r}")

    def _read_probability(self) -> None:
        self._expect("(")
        head = self._until(")")
        name, parents = head[0], head[2:]
        unknown = [known for known in (name, *parents) if known not in self._states]
        if unknown or head[1:2] not in ([], ["|"]):
            raise FileFormatError(f"'probability ( {' '.join(head)} )' names no known variables")
        shape = [len(self._states[known]) for known in (*parents, name)]
        table = np.full(shape, np.nan)
        self._expect("{")
        while (token := next(self._tokens)) != "}":
            if token == "table" and not parents:
                table[:] = self._row(name, shape[-1])
            elif token == "(":
                states = self._configuration(parents)
                table[states] = self._row(name, shape[-1])
            else:
                raise FileFormatError(
                    f"expected one row for each configuration of the parents of {name}; "
                    f"got {token!r}"
                )
        if np.isnan(table).any():
            raise FileFormatError(f"{name} lacks the row of a configuration of its parents")
        self._tables[name] = (parents, table)

    def _configuration(self, parents: list[str]) -> tuple[int, ...]:
        states = self._until(")")
        try:
            return tuple(
                self._states[parent].index(state)
                for parent, state in zip(parents, states, strict=True)
            )
        except ValueError as error:
            raise FileFormatError(
                f"({', '.join(states)}) is no configuration of {', '.join(parents)}"
            ) from error

    def _row(self, name: str, n_states: int) -> list[float]:
        words = self._until(";")
        try:
            row = [float(word) for word in words]
        except ValueError as error:
            raise FileFormatError(f"the table of {name} should hold numbers: {error}") from error
        if len(row) != n_states:
            raise FileFormatError(f"a row of {name} should have {n_states} numbers; got {len(row)}")
        return row
