import dataclasses

import numpy as np
import pytest

from mixoracle.model import CPDAG, JointTable, LatentModel
from mixoracle.report import claims, folder, html, words
from mixoracle.report.evidence import Evidence
from mixoracle.report.resampling import Resampled
from mixoracle.report.text import edge_documents
from mixoracle.trust.edges import Claim, PairSupport


def model_of(m):
    return LatentModel(
        observed_names=[f"X{i + 1}" for i in range(2 * m)],
        latent_names=[f"H{j + 1}" for j in range(m)],
        bipartite=np.vstack([np.eye(m)] * 2),
        domain_sizes=(2,) * m,
        joint=JointTable(np.full((2,) * m, 0.5**m)),
        latent_graph=CPDAG(m),
    )


def pair(claim, adjacency=0.99, forward=0.97, backward=0.02, ends=(0, 1), **others):
    held = {"visible": 0.123, **others}
    return PairSupport(*ends, claim, adjacency, forward, backward, **held)


@pytest.mark.parametrize(
    ("held", "sentence"),
    [
        (pair(Claim.CAUSES), "H1 causes H2 (support 0.97)."),
        (
            pair(Claim.DECLARED, forward=1.0, declared=True),
            "H1 causes H2, as declared beforehand; no figure, because the data had no say in it.",
        ),
        (
            pair(Claim.PROBABLY, forward=0.9, declared=True),
            "H1 probably causes H2 (support 0.90; the direction was declared beforehand).",
        ),
        (
            pair(Claim.ABSENT, 0.0, 0.0, 0.0, declared=True),
            "No direct effect between H1 and H2, as declared beforehand.",
        ),
        (pair(Claim.CAUSES, forward=0.9999), "H1 causes H2 (support > 0.99)."),
        (pair(Claim.PROBABLY, forward=0.9), "H1 probably causes H2 (support 0.90)."),
        (
            pair(Claim.MAY, 0.8, 0.5, 0.3),
            "H1 may cause H2 (support 0.50; the other way round 0.30, no edge 0.20).",
        ),
        (
            pair(Claim.MAY, None, None, None),
            "H1 may cause H2 (too many hidden causes to say how sure that is).",
        ),
        (
            pair(Claim.OPEN),
            "H1 and H2 (support 0.99) depend on each other; these data do not show which one is "
            "the cause.",
        ),
        (
            pair(Claim.OPEN, 0.7),
            "H1 and H2 (support 0.70) may depend on each other directly; these data do not show "
            "which one is the cause.",
        ),
        (
            pair(Claim.ABSENT, 0.02),
            "The hidden causes are independent of each other (support 0.98).",
        ),
        (
            pair(Claim.NOT_SEEN, 0.3),
            "No direct effect between H1 and H2 (support 0.30) was found, but none is ruled out: "
            "an association of Cramér's V = 0.12 is detected in 80 % of samples.",
        ),
        (
            pair(Claim.NOT_SEEN, 0.996),
            "A direct effect between H1 and H2 (support > 0.99) is likely, although it is too weak "
            "to be in the graph that scores best.",
        ),
        (
            pair(Claim.NOT_SEEN, 0.3, visible=1.0),
            "No direct effect between H1 and H2 (support 0.30) was found, but none is ruled out: "
            "no association, however strong, would be detected reliably.",
        ),
    ],
)
def test_words_follow_figures(held, sentence):
    assert claims.relations(model_of(2), [held]) == [sentence]


def test_absent_edges_beside_others_are_listed_with_the_least_support():
    held = [
        pair(Claim.CAUSES),
        pair(Claim.ABSENT, 0.04, ends=(0, 2)),
        pair(Claim.ABSENT, 0.01, ends=(1, 2)),
    ]
    assert claims.relations(model_of(3), held)[1] == (
        "No direct effect between H1 and H3 as well as H2 and H3 (support 0.96)."
    )


def test_a_page_never_says_more_than_the_summary(make_result):
    model = dataclasses.replace(make_result(2, 5).model, latent_graph=CPDAG(2, frozenset({(0, 1)})))
    result = make_result(model=model)
    weak = (pair(Claim.MAY, 0.8, 0.5, 0.3),)
    evidence = dataclasses.replace(result.evidence, edges=weak)
    page = html.render(dataclasses.replace(result, evidence=evidence))
    assert "May cause H2 (support 0.50)." in page
    assert "Maybe caused by H1 (support 0.50)." in page
    assert "causes H2" not in page
    assert words.relations(model, evidence)[0] in page


def test_figures_survive_the_file(make_result):
    evidence = make_result(3, 6).evidence
    assert len(evidence.edges) == 3
    assert Evidence.from_json(evidence.to_json()).edges == evidence.edges


def test_machines_get_names_and_figures():
    (document,) = edge_documents(model_of(2), [pair(Claim.PROBABLY, forward=0.9)])
    assert document == {
        "first": "H1",
        "second": "H2",
        "claim": "probably causes",
        "adjacency": 0.99,
        "forward": 0.9,
        "backward": 0.02,
        "visible": 0.123,
        "declared": False,
    }


def test_the_picture_of_a_page_claims_no_more_than_its_words(make_result, tmp_path):
    model = dataclasses.replace(make_result(2, 5).model, latent_graph=CPDAG(2, frozenset({(0, 1)})))
    result = make_result(model=model)
    for claim, support, said in (
        (Claim.CAUSES, 0.97, "causes"),
        (Claim.PROBABLY, 0.9, "probably causes"),
        (Claim.MAY, 0.33, "may cause"),
    ):
        held = (pair(claim, 0.99, support, 0.3),)
        evidence = dataclasses.replace(result.evidence, edges=held)
        folder.write_report(tmp_path, dataclasses.replace(result, evidence=evidence))
        for name in ("report.html", "graph.svg"):
            page = (tmp_path / name).read_text()
            assert f"H1 {said} H2: support {support:.2f}" in page
            assert f">{said}</text>" in page
            assert (said == "causes") == (">causes</text>" in page)


def test_what_a_cause_drives_is_hedged_by_its_support(make_result):
    result = make_result(1, 4)
    evidence = dataclasses.replace(result.evidence, drives=((0.99,), (0.9,), (0.5,), (0.96,)))
    (sentence,) = words.findings(result.model, evidence)
    assert sentence.endswith("drives X1, X4, probably drives X2 and may drive X3.")
    page = html.render(dataclasses.replace(result, evidence=evidence))
    assert page.count(" (maybe)</td>") == page.count(" (probably)</td>") == 1
    again = ((1.0,), (1.0,), (1.0,), (0.5,))
    found = Resampled(2, ((1, 1.0),), (1.0,), (1.0,), again, ((0.0,),), ((0.0,),), None, None, 0)
    evidence = dataclasses.replace(evidence, support=found)
    (sentence,) = words.findings(result.model, evidence)
    assert sentence.endswith("drives X1, probably drives X2 and may drive X3, X4.")
