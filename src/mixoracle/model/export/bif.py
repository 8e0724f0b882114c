"""BIF and XMLBIF: the latents as a Bayesian network, for pyAgrum, pgmpy and bnlearn.

Both formats hold a DAG with one conditional table for each node. Λ is an equivalence class, so one
of its members is written (a comment says so and how many there are) with P(H) factorised along it:
all members give the same joint distribution, but only the class says which arrows are known. Γ and
the components have no place in the formats.

Variables and states are identifiers here. A latent with another name gets one close to it, and its
own name as a property, percent-encoded, from which the readers restore it; so do states. States
without names are called s0, s1, …. Where P(H) never shows a
configuration of parents, the table is uniform.

Numbers are written with all their digits. pyAgrum's reader of BIF keeps them in single precision
(some 1e-8); XMLBIF 0.3, the same network in XML, is read exactly.
"""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING
from urllib.parse import quote, unquote

import numpy as np

from mixoracle._arrays import Floats
from mixoracle.errors import FileFormatError, InvalidInputError
from mixoracle.model.cpdag import refuse_cycles
from mixoracle.model.export.names import identifiers
from mixoracle.model.graphs import Edge
from mixoracle.model.network import JointNetwork, parents_of
from mixoracle.model.state_names import StateNames

if TYPE_CHECKING:
    from mixoracle.model.latent_model import LatentModel

_KEYWORDS = ("network", "variable", "probability", "property", "type", "discrete", "table")
# Words of other readers' grammars.
_RESERVED = (*_KEYWORDS, "default")
_TOKEN = re.compile(r'"[^"]*"|[{}()\[\]|,;=]|[^\s{}()\[\]|,;="]+')
_COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)
_NAME_PROPERTY = "name"
_STATES_PROPERTY = "states"


@dataclass(frozen=True)
class LatentNetwork:
    """A Bayesian network over the latents, as BIF and XMLBIF hold it."""

    latent_names: tuple[str, ...]
    edges: frozenset[Edge]  # a DAG
    joint: JointNetwork
    state_names: StateNames = ()  # for each latent the names of its states; None for s0, s1, …

    def __post_init__(self) -> None:
        refuse_cycles(self.edges)


def family_table(model: LatentModel, node: int, parents: list[int]) -> Floats:
    """P(node | parents) with an axis for each parent, in their order, and the node's last."""
    return model.joint.conditional(node, parents, unseen=1.0 / model.domain_sizes[node])


def assemble(
    states: Mapping[str, list[str]],
    tables: Mapping[str, tuple[list[str], Floats]],
    properties: Mapping[str, Mapping[str, str]],
) -> LatentNetwork:
    """Put family tables, each with its parents, together into a network.

    ``properties`` of a variable may hold the names, percent-encoded, that it and its states have
    where a file knows them by others.
    """
    order = list(states)
    missing = [name for name in order if name not in tables]
    if missing:
        raise FileFormatError(f"{missing[0]} has no probabilities")
    place = {name: j for j, name in enumerate(order)}
    above, conditionals = [], []
    for name in order:
        parents, table = tables[name]
        places = [place[parent] for parent in parents]
        above.append(tuple(sorted(places)))
        conditionals.append(np.transpose(table, [*np.argsort(places), len(places)]))
    joint = JointNetwork(tuple(above), tuple(conditionals))
    proper = tuple(unquote(properties[name].get(_NAME_PROPERTY, name)) for name in order)
    named = tuple(_proper_states(own, properties[name]) for name, own in states.items())
    return LatentNetwork(proper, joint.edges, joint, named)


def _proper_states(labels: list[str], properties: Mapping[str, str]) -> tuple[str, ...] | None:
    """The names of states that a file knows by ``labels``; None where they have none."""
    held = properties.get(_STATES_PROPERTY)
    if held is not None:
        listed = tuple(unquote(word) for word in held.split(","))
        if len(listed) != len(labels):
            raise FileFormatError(
                f"a variable with {len(labels)} states has names for {len(listed)}: {held!r}"
            )
        return listed
    return None if labels == _plain_states(len(labels)) else tuple(labels)


def _plain_states(size: int) -> list[str]:
    return [f"s{state}" for state in range(size)]


def _properties(model: LatentModel, names: list[str]) -> list[dict[str, str]]:
    """For each latent what its identifiers do not say: its name, and those of its states."""
    listed = []
    for j, (labels, states) in enumerate(zip(_state_labels(model), model.state_names, strict=True)):
        held = {}
        if names[j] != model.latent_names[j]:
            held[_NAME_PROPERTY] = quote(model.latent_names[j], safe="")
        # Labels that are no names would be read so, and s0, s1, … as no names.
        if states is not None and (labels != list(states) or labels == _plain_states(len(labels))):
            held[_STATES_PROPERTY] = ",".join(quote(state, safe="") for state in states)
        listed.append(held)
    return listed


def to_bif(model: LatentModel) -> str:
    """Write P(H) along one member of Λ as BIF."""
    edges = model.latent_graph.extension()
    names = identifiers(model.latent_names, reserved=_RESERVED)
    size = model.latent_graph.size
    note = f"// one of {size} equivalent DAGs; all have this joint distribution"
    blocks = [note, "network mixoracle {\n}"]
    labels, properties = _state_labels(model), _properties(model, names)
    for name, states, held in zip(names, labels, properties, strict=True):
        kept = "".join(f'  property {key} = "{value}" ;\n' for key, value in held.items())
        blocks.append(
            f"variable {name} {{\n  type discrete [ {len(states)} ] {{ {', '.join(states)} }};\n"
            f"{kept}}}"
        )
    for node, parents in enumerate(parents_of(edges, model.n_latent)):
        blocks.append(_probability(model, names, node, parents))
    return "\n".join(blocks) + "\n"


def _probability(model: LatentModel, names: list[str], node: int, parents: list[int]) -> str:
    rows = family_table(model, node, parents)
    if not parents:
        return f"probability ( {names[node]} ) {{\n  table {_numbers(rows)};\n}}"
    lines = [f"probability ( {names[node]} | {', '.join(names[j] for j in parents)} ) {{"]
    labels = _state_labels(model)
    for states in product(*(range(model.domain_sizes[j]) for j in parents)):
        given = ", ".join(labels[j][state] for j, state in zip(parents, states, strict=True))
        lines.append(f"  ({given}) {_numbers(rows[states])};")
    return "\n".join([*lines, "}"])


def _state_labels(model: LatentModel) -> list[list[str]]:
    """The states of each latent as identifiers, close to their names where they have some."""
    return [
        _plain_states(size) if states is None else identifiers(states, _KEYWORDS)
        for size, states in zip(model.domain_sizes, model.state_names, strict=True)
    ]


def _numbers(row: Floats) -> str:
    return ", ".join(repr(float(value)) for value in row)


def read_bif(text: str) -> LatentNetwork:
    """Read a discrete network in BIF, ours or one whose conditional tables list their rows."""
    try:
        return _Reader(text).network()
    except StopIteration:
        raise FileFormatError("this BIF is cut off: it ends inside a block") from None
    except InvalidInputError as error:
        raise FileFormatError(f"this BIF holds no Bayesian network: {error}") from error


class _Reader:
    """A reader of BIF blocks, token by token."""

    def __init__(self, text: str) -> None:
        self._tokens: Iterator[str] = iter(_TOKEN.findall(_COMMENT.sub(" ", text)))
        self._states: dict[str, list[str]] = {}
        self._properties: dict[str, dict[str, str]] = {}
        self._tables: dict[str, tuple[list[str], Floats]] = {}

    def network(self) -> LatentNetwork:
        """Read all blocks, and multiply the tables."""
        blocks = {
            "network": self._skip_network,
            "variable": self._read_variable,
            "probability": self._read_probability,
        }
        begun = False
        for token in self._tokens:
            begun = True
            if token not in blocks:
                raise FileFormatError(
                    f"expected 'network', 'variable' or 'probability' in BIF; got {token!r}"
                )
            blocks[token]()
        if not begun:
            raise FileFormatError("this should be BIF; it holds no block at all")
        return assemble(self._states, self._tables, self._properties)

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
        self._properties[name] = {}
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
                if len(words) == 3 and words[1] == "=":
                    self._properties[name][words[0]] = words[2].strip('"')
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


def to_xmlbif(model: LatentModel) -> str:
    """Write P(H) along one member of Λ as XMLBIF."""
    names = identifiers(model.latent_names)
    root = ET.Element("BIF", VERSION="0.3")
    network = ET.SubElement(root, "NETWORK")
    ET.SubElement(network, "NAME").text = "mixoracle"
    note = f"one of {model.latent_graph.size} equivalent DAGs"
    ET.SubElement(network, "PROPERTY").text = note
    labels, properties = _state_labels(model), _properties(model, names)
    for name, states, held in zip(names, labels, properties, strict=True):
        variable = ET.SubElement(network, "VARIABLE", TYPE="nature")
        ET.SubElement(variable, "NAME").text = name
        for state in states:
            ET.SubElement(variable, "OUTCOME").text = state
        for key, value in held.items():
            ET.SubElement(variable, "PROPERTY").text = f"{key} = {value}"
    edges = model.latent_graph.extension()
    for node, parents in enumerate(parents_of(edges, model.n_latent)):
        definition = ET.SubElement(network, "DEFINITION")
        ET.SubElement(definition, "FOR").text = names[node]
        for parent in parents:
            ET.SubElement(definition, "GIVEN").text = names[parent]
        numbers = family_table(model, node, parents).ravel()
        ET.SubElement(definition, "TABLE").text = " ".join(repr(float(v)) for v in numbers)
    ET.indent(root)
    return '<?xml version="1.0"?>\n' + ET.tostring(root, encoding="unicode") + "\n"


def read_xmlbif(text: str) -> LatentNetwork:
    """Read a discrete network in XMLBIF."""
    try:
        network = ET.fromstring(text).find("NETWORK")
    except ET.ParseError as error:
        raise FileFormatError(f"this is not XML: {error}") from error
    if network is None:
        raise FileFormatError("this XML holds no XMLBIF network")
    states: dict[str, list[str]] = {}
    properties: dict[str, dict[str, str]] = {}
    for variable in network.findall("VARIABLE"):
        name = _text(variable, "NAME")
        states[name] = [(found.text or "").strip() for found in variable.findall("OUTCOME")]
        pairs = [(found.text or "").partition(" = ") for found in variable.findall("PROPERTY")]
        properties[name] = {key: value.strip() for key, _, value in pairs}
    sizes = {name: len(own) for name, own in states.items()}
    try:
        tables = dict(_definition(found, sizes) for found in network.findall("DEFINITION"))
        return assemble(states, tables, properties)
    except InvalidInputError as error:
        raise FileFormatError(f"this XMLBIF holds no Bayesian network: {error}") from error


def _definition(
    definition: ET.Element, sizes: dict[str, int]
) -> tuple[str, tuple[list[str], Floats]]:
    name = _text(definition, "FOR")
    parents = [(given.text or "").strip() for given in definition.findall("GIVEN")]
    unknown = [known for known in (name, *parents) if known not in sizes]
    if unknown:
        raise FileFormatError(f"a definition names {unknown[0]!r}, which is no variable")
    shape = [sizes[known] for known in (*parents, name)]
    try:
        numbers = np.array([float(word) for word in _text(definition, "TABLE").split()])
        return name, (parents, numbers.reshape(shape))
    except ValueError as error:
        raise FileFormatError(
            f"the table of {name} should hold {np.prod(shape)} numbers: {error}"
        ) from error


def _text(element: ET.Element, tag: str) -> str:
    found = element.find(tag)
    if found is None or not found.text:
        raise FileFormatError(f"a {element.tag} of this XMLBIF lacks its {tag}")
    return found.text.strip()
