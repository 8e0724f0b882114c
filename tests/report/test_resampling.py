import dataclasses

import numpy as np

from mixoracle.model import CPDAG, JointTable
from mixoracle.report import html
from mixoracle.report.evidence import Evidence
from mixoracle.report.resampling import Resampled, stability
from mixoracle.trust.edges import Claim, PairSupport
from mixoracle.trust.support import Support


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
    lines = stability(result.model, Resampled.of(support_for(result.model), result.model))
    assert lines[0] == (
        "In 20 halves of the cases, drawn at random, the number of hidden causes was 3 in 90%, "
        "4 in 10%."
    )
    assert lines[1] == "H1 was found again in 50%, with as many states in 50%."
    assert any(line.startswith("Less stable: H1 drives") for line in lines)
    assert sum("edge between" in line for line in lines) == len(result.model.latent_graph.skeleton)
    steady = stability(result.model, Resampled.of(support_for(result.model, 1.0), result.model))
    assert not any(line.startswith("Less stable") for line in steady)
    assert stability(result.model, None) == []


def test_a_declared_arrow_is_not_found_again(make_result):
    model = dataclasses.replace(
        make_result(2, 5).model, latent_graph=CPDAG(2, frozenset({(0, 1)})), components=None
    )
    held = Resampled.of(support_for(model), model)
    assert any("The arrow from H1 to H2" in line for line in stability(model, held))
    pair = PairSupport(0, 1, Claim.DECLARED, 1.0, 1.0, 0.0, 0.1, True)
    assert not any("The arrow" in line for line in stability(model, held, [pair]))


def test_effects_have_intervals_over_class_and_resamples(make_result):
    result = make_result(2, 5)
    arrow = CPDAG(2, frozenset({(0, 1)}))
    sizes = result.model.domain_sizes
    table = np.random.default_rng(0).dirichlet(np.full(np.prod(sizes), 9.0)).reshape(sizes)
    model = dataclasses.replace(
        result.model, latent_graph=arrow, components=None, joint=JointTable(table)
    )
    shift = np.zeros_like(table)
    shift[0, :2] = 1.0, -1.0
    resampled = [
        dataclasses.replace(model, joint=JointTable(table + s * shift))
        for s in np.linspace(-0.01, 0.01, 41)
    ]
    support = dataclasses.replace(support_for(model), resampled=tuple(resampled), n_same=41)
    (held,) = Resampled.of(support, model).effects
    assert (held.cause, held.effect) == (0, 1)
    given = table / table.sum(axis=1, keepdims=True)
    assert np.allclose(held.lower, given)
    assert np.allclose(held.upper, given)
    # 2.5 % of the resamples lie below, 2.5 % above; the other states were the same in all.
    off = 0.0095 * shift[0] / table[0].sum()
    assert np.allclose(held.low[0], given[0] - np.abs(off))
    assert np.allclose(held.high[0], given[0] + np.abs(off))
    assert np.allclose([held.low[1:], held.high[1:]], given[1:])
    evidence = dataclasses.replace(result.evidence, support=Resampled.of(support, model))
    page = html.render(dataclasses.replace(result, model=model, evidence=evidence))
    assert "Effects among the hidden causes, with intervals" in page
    found, low, high = given[0, 0], held.low[0][0], held.high[0][0]
    assert f'">{found:.3f}</td><td class="num">{low:.3f} to {high:.3f}</td>' in page


def test_it_survives_the_file_and_is_on_the_page(make_result):
    result = make_result(2, 5)
    held = Resampled.of(support_for(result.model), result.model)
    evidence = dataclasses.replace(result.evidence, support=held)
    assert Evidence.from_json(evidence.to_json()).support == held
    page = html.render(dataclasses.replace(result, evidence=evidence))
    assert "Stability: learned again from halves" in page
    assert "Stability" not in html.render(result)


def test_probabilities_of_joint_states_have_intervals_beside_them(make_result):
    result = make_result(2, 5)
    n_joint = result.model.joint.n_joint
    low, high = (tuple(shift + k / 100 for k in range(n_joint)) for shift in (0.001, 0.002))
    m, n = result.model.n_latent, result.model.n_observed
    square = ((0.0,) * m,) * m
    held = Resampled(
        9, ((m, 1.0),), (1.0,) * m, (1.0,) * m, ((1.0,) * m,) * n, square, square, low, high, 7
    )
    evidence = dataclasses.replace(result.evidence, support=held)
    page = html.render(dataclasses.replace(result, evidence=evidence))
    assert ">95 % interval</th>" in page
    last = n_joint - 1
    assert f"{low[last]:.3f} to {high[last]:.3f}" in page
    assert "95 % of the 7 halves" in page
    assert ">95 % interval</th>" not in html.render(result)
