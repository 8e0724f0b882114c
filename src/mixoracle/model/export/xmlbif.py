"""XMLBIF 0.3: the same Bayesian network as BIF, in XML.

Written beside BIF because readers of it keep double precision (pyAgrum's of BIF does not). What
:mod:`mixoracle.model.export.bif` says about the choice of a DAG, names and unseen configurations
holds here too.
"""

from __future__ import annotations

import xml.etree.ElementTree as ET
from urllib.parse import quote, unquote

import numpy as np

from mixoracle.errors import FileFormatError, InvalidInputError
from mixoracle.model import LatentModel
from mixoracle.model.export.names import identifiers
from mixoracle.model.export.network import Array, LatentNetwork, assemble, family_table
from mixoracle.model.factorisation import parents_of

_NAME_PROPERTY = "name = "


def to_xmlbif(model: LatentModel) -> str:
    """Write P(H) along one member of Λ as XMLBIF."""
    names = identifiers(model.latent_names)
    root = ET.Element("BIF", VERSION="0.3")
    network = ET.SubElement(root, "NETWORK")
    ET.SubElement(network, "NAME").text = "mixoracle"
    note = f"one of {model.latent_graph.size} equivalent DAGs"
    ET.SubElement(network, "PROPERTY").text = note
    for name, original, size in zip(names, model.latent_names, model.domain_sizes, strict=True):
        variable = ET.SubElement(network, "VARIABLE", TYPE="nature")
        ET.SubElement(variable, "NAME").text = name
        for state in range(size):
            ET.SubElement(variable, "OUTCOME").text = f"s{state}"
        if name != original:
            ET.SubElement(variable, "PROPERTY").text = _NAME_PROPERTY + quote(original, safe="")
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
    sizes: dict[str, int] = {}
    names: dict[str, str] = {}
    for variable in network.findall("VARIABLE"):
        name = _text(variable, "NAME")
        sizes[name] = len(variable.findall("OUTCOME"))
        for found in variable.findall("PROPERTY"):
            if (found.text or "").startswith(_NAME_PROPERTY):
                names[name] = unquote((found.text or "").removeprefix(_NAME_PROPERTY).strip())
    try:
        tables = dict(_definition(found, sizes) for found in network.findall("DEFINITION"))
        return assemble(sizes, tables, names)
    except InvalidInputError as error:
        raise FileFormatError(f"this XMLBIF holds no Bayesian network: {error}") from error


def _definition(
    definition: ET.Element, sizes: dict[str, int]
) -> tuple[str, tuple[list[str], Array]]:
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
