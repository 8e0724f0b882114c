"""Three small tables that ship with the package, each with its story and its truth.

Tutorials and how-to pages use them. They are drawn from a fixed seed when they are loaded, so the
package carries no files and no foreign licence, and every reader sees the same rows. They look as
tables of their field look: identifiers, missing values and a few wrong readings included.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    import pandas as pd

Floats = NDArray[np.floating[Any]]
Bools = NDArray[np.bool_]

# Shares of missing values and numbers of wrong readings: enough to see, too few to hurt.
_MACHINE_MISSING = 0.03
_MACHINE_WRONG = 4
_SKILLS = ("add", "carry", "fractions")
# How often an item is solved with and without the skill that it needs.
_SOLVED, _GUESSED = 0.9, 0.12
# The modules of genes, with the hidden causes that drive each: k is the kind, p is the phase.
_MODULES = {"marker": "k", "surface": "k", "cycle": "p", "histone": "p", "ribosome": "kp"}
_GENES = 4


@dataclass(frozen=True, eq=False)
class ExampleTable:
    """A table to learn from, and the hidden states that it was drawn from.

    Attributes
    ----------
    frame : DataFrame
        A row for each case, as it would come from a file.
    states : DataFrame
        The truth: the name of the state of each hidden cause in each row. The learner never
        sees it.
    story : str
        What the table is about, in a few sentences.
    edges : tuple of (str, str)
        The truth among the hidden causes: each pair is a cause and its effect.
    qmatrix : DataFrame or None
        For a test: 1 where an item (row) needs a skill (column).

    Examples
    --------
    >>> machine = load_machine()
    >>> len(machine.frame), list(machine.states.columns)
    (1200, ['tool', 'coolant', 'bearing'])
    """

    frame: pd.DataFrame
    states: pd.DataFrame
    story: str
    edges: tuple[tuple[str, str], ...] = field(default=())
    qmatrix: pd.DataFrame | None = None


def load_machine() -> ExampleTable:
    """1200 parts from a lathe: its tool, its coolant and its bearing are the hidden causes.

    A dull tool and low coolant, which are independent, damage the bearing. Three in a hundred
    values are missing, and four readings of the power meter are wrong.

    Examples
    --------
    >>> machine = load_machine()
    >>> machine.frame.shape
    (1200, 9)
    >>> list(machine.states)
    ['tool', 'coolant', 'bearing']
    """
    import pandas as pd

    n_parts = 1200
    rng = np.random.default_rng(17)
    dull, low = rng.random(n_parts) < 0.4, rng.random(n_parts) < 0.35
    damaged = rng.random(n_parts) < np.select([dull & low, dull | low], [0.9, 0.45], 0.1)

    def reading(mean: Floats, spread: float, digits: int) -> Floats:
        return np.round(rng.normal(mean, spread), digits)

    numbers = pd.DataFrame(
        {
            "torque": reading(5.0 + 3.5 * dull, 0.5, 2),
            "roughness": reading(0.8 + 0.8 * dull, 0.12, 3),
            "temperature": reading(42.0 + 16.0 * low, 2.2, 1),
            "flow": reading(12.0 - 4.0 * low, 0.6, 2),
            "vibration": reading(1.2 + 1.9 * damaged, 0.3, 3),
            "sound": reading(68.0 + 9.0 * damaged, 1.4, 1),
            "power": reading(3.0 + 1.1 * dull + 2.4 * damaged, 0.16, 3),
        }
    )
    numbers = numbers.mask(rng.random(numbers.shape) < _MACHINE_MISSING)
    wrong = rng.choice(n_parts, _MACHINE_WRONG, replace=False)
    numbers.loc[wrong, "power"] = [61.2, -40.5, 55.3, 48.7]
    scratched = rng.random(n_parts) < np.where(dull, 0.85, 0.1)
    frame = numbers.assign(finish=np.where(scratched, "scratched", "good"))
    frame.insert(0, "part", [f"P{number:05d}" for number in range(1, n_parts + 1)])
    states = pd.DataFrame(
        {
            "tool": np.where(dull, "dull", "sharp"),
            "coolant": np.where(low, "low", "full"),
            "bearing": np.where(damaged, "damaged", "intact"),
        }
    )
    story = (
        "A lathe turned 1200 parts. A dull tool cuts with more torque and leaves a rough, often "
        "scratched surface. Low coolant shows in temperature and flow. Both wear the bearing, "
        "which shows in vibration, sound and power. Nobody wrote down when each of them began."
    )
    return ExampleTable(frame, states, story, (("tool", "bearing"), ("coolant", "bearing")))


def load_skills() -> ExampleTable:
    """1500 persons who answered a test of 12 items for three skills, with its Q-matrix.

    Persons who can add have learned fractions more often; carrying is independent of both.

    Examples
    --------
    >>> skills = load_skills()
    >>> skills.frame.shape, skills.qmatrix.shape
    ((1500, 13), (12, 3))
    """
    import pandas as pd

    n_persons = 1500
    rng = np.random.default_rng(21)
    add, carry = rng.random(n_persons) < 0.6, rng.random(n_persons) < 0.5
    fractions = rng.random(n_persons) < np.where(add, 0.7, 0.2)
    mastered = np.stack([add, carry, fractions], axis=1)
    needed = np.repeat(np.eye(len(_SKILLS), dtype=int), 4, axis=0)
    able: Bools = mastered[:, needed.argmax(axis=1)]
    solved = rng.random(able.shape) < np.where(able, _SOLVED, _GUESSED)
    items = [f"item{number}" for number in range(1, len(needed) + 1)]
    frame = pd.DataFrame(solved.astype(int), columns=items)
    frame.insert(0, "person", [f"S{number:04d}" for number in range(1, n_persons + 1)])
    states = pd.DataFrame(np.where(mastered, "mastered", "not yet"), columns=list(_SKILLS))
    story = (
        "1500 persons took a test of 12 items, each right (1) or wrong (0). Experts say that items "
        "1 to 4 need adding, 5 to 8 carrying and 9 to 12 fractions. A person who has the skill "
        "solves an item nine times in ten, another one guesses right about once in eight."
    )
    qmatrix = pd.DataFrame(needed, index=items, columns=list(_SKILLS))
    return ExampleTable(frame, states, story, (("add", "fractions"),), qmatrix)


def load_cells() -> ExampleTable:
    """Counts of 20 genes in 900 cells of three kinds and two phases, read to different depths.

    Cells of the first kind divide more often.

    Examples
    --------
    >>> cells = load_cells()
    >>> cells.frame.shape
    (900, 21)
    """
    import pandas as pd

    n_cells = 900
    rng = np.random.default_rng(5)
    kind = rng.choice(3, size=n_cells, p=[0.5, 0.3, 0.2])
    divides = rng.random(n_cells) < np.where(kind == 0, 0.55, 0.25)
    depth = np.exp(rng.normal(0.0, 0.2, n_cells))
    columns = {}
    for module, drivers in _MODULES.items():
        shift = kind * ("k" in drivers) + 1.4 * divides * ("p" in drivers)
        for gene in range(1, _GENES + 1):
            columns[f"{module}_{gene}"] = rng.poisson((6.0 + (7.0 + gene) * shift) * depth)
    frame = pd.DataFrame({**columns, "depth": np.round(10_000 * depth).astype(int)})
    states = pd.DataFrame(
        {
            "kind": np.array(["stem", "early", "mature"])[kind],
            "phase": np.where(divides, "dividing", "resting"),
        }
    )
    story = (
        "Five modules of four genes were counted in 900 cells, and each cell was read to a "
        "different depth. Two modules follow the kind of a cell, two its phase, and one follows "
        "both. Stem cells divide more often than the others."
    )
    return ExampleTable(frame, states, story, (("kind", "phase"),))
