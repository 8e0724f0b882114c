"""A model in the formats of other tools, from BIF to pyAgrum.

Each writer returns text, each reader takes text and returns as much as the format holds.
:func:`write` and :func:`read` choose by the ending of a file's name.
"""

from mixoracle.model.export.agrum import to_pyagrum
from mixoracle.model.export.bif import read_bif, to_bif
from mixoracle.model.export.dagitty import read_dagitty, to_dagitty
from mixoracle.model.export.dot import to_dot
from mixoracle.model.export.files import read, write
from mixoracle.model.export.graph import CausalGraph, from_networkx
from mixoracle.model.export.graphml import read_graphml, to_graphml
from mixoracle.model.export.jsonfile import read_json, to_json
from mixoracle.model.export.network import LatentNetwork
from mixoracle.model.export.xmlbif import read_xmlbif, to_xmlbif

__all__ = [
    "CausalGraph",
    "LatentNetwork",
    "from_networkx",
    "read",
    "read_bif",
    "read_dagitty",
    "read_graphml",
    "read_json",
    "read_xmlbif",
    "to_bif",
    "to_dagitty",
    "to_dot",
    "to_graphml",
    "to_json",
    "to_pyagrum",
    "to_xmlbif",
    "write",
]
