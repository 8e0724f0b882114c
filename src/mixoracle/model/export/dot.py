"""DOT, for Graphviz: a drawing, latents round and observed variables boxed.

Written only: reading DOT back would need its whole grammar, and GraphML holds more.
"""

from __future__ import annotations

from mixoracle.model import LatentModel
from mixoracle.model.export.names import escaped


def to_dot(model: LatentModel) -> str:
    """Write G as a DOT digraph; open edges of Λ have no arrowhead."""
    lines = ["digraph G {"]
    for j, (name, size) in enumerate(zip(model.latent_names, model.domain_sizes, strict=True)):
        lines.append(f"  h{j} [shape=ellipse, label={_quoted(f'{name} ({size} states)')}];")
    for i, name in enumerate(model.observed_names):
        lines.append(f"  x{i} [shape=box, label={_quoted(name)}];")
    lines += [f"  h{i} -> h{j};" for i, j in sorted(model.latent_graph.directed)]
    open_pairs = sorted(sorted(pair) for pair in model.latent_graph.undirected)
    lines += [f"  h{i} -> h{j} [dir=none];" for i, j in open_pairs]
    lines += [f"  h{j} -> x{i};" for i in range(model.n_observed) for j in model.parents(i)]
    return "\n".join([*lines, "}"]) + "\n"


def _quoted(text: str) -> str:
    """A DOT string: lines kept, other unprintable characters shown as escapes."""
    # A backslash starts an escape such as \n, so those of the text itself are doubled.
    lines = [escaped(line).replace("\\", "\\\\") for line in text.split("\n")]
    body = "\\n".join(lines).replace('"', '\\"')
    return f'"{body}"'
