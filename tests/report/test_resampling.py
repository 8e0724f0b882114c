import dataclasses

import numpy as np

from mixoracle.report import html
from mixoracle.report.evidence import Evidence
from mixoracle.report.resampling import Resampled, stability
from mixoracle.trust.bootstrap import Support


def support_for(model, share=0.5):
    m, n = model.n_latent, model.n_observed
    return Support(
        n_resamples=20,
        n_latents={m: 0.9, m + 1: 0.1},
        latents=np.full(m, share),
        domain_sizes=np.full(m, share),
        bipartite=np.full((n, m), share),
        adjacency=np.full((m, m), share),
        arrows=np.full((m, m), share / 2),
        joint_low=model.joint.table / 2,
        joint_high=None,
        n_same=7,
    )


def test_stability_is_told_for_each_part(make_result):
    result = make_result(3, 6)
    lines = stability(result.model, Resampled.of(support_for(result.model)))
    assert lines[0] == (
        "In 20 halves of the cases, drawn at random, the number of hidden causes was 3 in 90%, "
        "4 in 10%."
    )
    assert lines[1] == "H1 was found again in 50%, with as many states in 50%."
    assert any(line.startswith("Less stable: H1 drives") for line in lines)
    assert sum("edge between" in line for line in lines) == len(result.model.latent_graph.skeleton)
    steady = stability(result.model, Resampled.of(support_for(result.model, 1.0)))
    assert not any(line.startswith("Less stable") for line in steady)
    assert stability(result.model, None) == []


def test_it_survives_the_file_and_is_on_the_page(make_result):
    result = make_result(2, 5)
    held = Resampled.of(support_for(result.model))
    evidence = dataclasses.replace(result.evidence, support=held)
    assert Evidence.from_json(evidence.to_json()).support == held
    page = html.render(dataclasses.replace(result, evidence=evidence))
    assert "Stability: learned again from halves" in page
    assert "Stability" not in html.render(result)
