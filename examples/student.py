"""What causes what? A walk for a student of causality.

Data are drawn from a known model of three hidden causes, two of which depend on each other. The
walk learns the equivalence class from the measurements alone, compares it with the truth, asks
what seeing and what doing say, and takes the graph to other programs.

Run ``python examples/student.py FOLDER``.
"""

import sys
from pathlib import Path

from mixoracle import LatentGraphLearner, LatentModel
from mixoracle.datasets import paper_problem
from mixoracle.metrics import compare
from mixoracle.model import export


def walk(folder: Path) -> None:
    """Learn, compare with the truth, see, do, export."""
    problem = paper_problem(3, 7, 2, n_samples=3000, random_state=4, covariance="code")
    learner = LatentGraphLearner(random_state=0).fit(problem.observations)
    print(learner.summary())
    print(compare(problem.model, learner.model_))
    learner.model_ = model = learner.model_.rename({"H1": "switch"})
    learner.report(folder / "result", replace=True)
    print("seeing", model.query("H2", given={"switch": 1}).table.round(3))
    acted = model.do({"switch": 1}).query("H2")
    print(
        "doing ", acted.lower.round(3), "to", acted.upper.round(3), "of", len(acted.graphs), "DAGs"
    )
    print(model.effects_frame().query("cause == 'switch' and effect == 'H2'").round(3))
    for name in ("graph.dagitty", "graph.bif", "graph.graphml"):
        export.write(model, folder / name)
    print(LatentModel.load(folder / "result").predict(problem.observations)[:3])


if __name__ == "__main__":
    target = Path(sys.argv[1])
    target.mkdir(parents=True, exist_ok=True)
    walk(target)
