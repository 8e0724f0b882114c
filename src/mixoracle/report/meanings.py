"""The assumptions of the paper in plain words: what each says, and what to do where it fails."""

from __future__ import annotations

from dataclasses import dataclass

from mixoracle.assumptions import Verdict
from mixoracle.report.lettering import sentence


@dataclass(frozen=True)
class Meaning:
    """One assumption for a reader who has not seen the paper."""

    title: str
    # The same where it fails.
    failed: str
    meaning: str
    if_not: str
    # Whether the answer itself is in doubt where it fails, and not only how it was found.
    matters: bool = True


MEANINGS = {
    "assm:twins": Meaning(
        "Every hidden cause leaves its own trace",
        "Two hidden causes drive the same measurements",
        "No two hidden causes drive exactly the same measurements, and each drives at least one.",
        "Two such causes look like one with more states; add a measurement that only one of them "
        "drives.",
    ),
    "assm:minimal": Meaning(
        "No hidden cause is really two",
        "A hidden cause may be two",
        "No cause could be split into two simpler ones that explain the data equally well.",
        "The cause that is named may be a combination of two simpler ones; the data cannot decide.",
    ),
    "assump:strong:NZ": Meaning(
        "Every combination of states occurs",
        "Some combinations of states never occur",
        "Each joint state of the hidden causes happens now and then, however rarely.",
        "Where a combination never occurs, another set of causes may explain the data as well; "
        "more cases, or cases chosen to include the rare combination, help.",
    ),
    "assump:strong:SDC": Meaning(
        "Every state shows in the measurements",
        "Some states look the same in a measurement",
        "A measurement looks different in each state of the causes that drive it.",
        "A measurement that looks the same in two states hides the difference; its count of "
        "components is too small. A finer measurement, or leaving it out, helps.",
    ),
    "assum:ssc": Meaning(
        "Every hidden cause has something of its own",
        "A hidden cause drives nothing of its own",
        "Of any two causes, each drives something that the other does not.",
        "The measurements that each cause drives can still be right, but the probabilities of the "
        "states and the arrows among the hidden causes are not identifiable; add a measurement "
        "that one cause alone drives.",
    ),
    "thm:hidden-bipartite:eff": Meaning(
        "Small groups of measurements suffice",
        "Small groups of measurements do not suffice",
        "Counts over few measurements at a time show which measurements each cause drives.",
        "The slower exact method was needed; the answer itself is not in doubt for this reason.",
        matters=False,
    ),
    "thm:recovery:eff": Meaning(
        "The quick method applies",
        "The quick method does not apply",
        "The sets of measurements that the causes drive are linearly independent.",
        "The slower exact method was needed; the answer itself is not in doubt for this reason.",
        matters=False,
    ),
    "obs:counting": Meaning(
        "The component counts agree",
        "The component counts contradict each other",
        "The numbers of components seen in single measurements and in groups of them agree with "
        "one set of hidden causes.",
        "The data contradict the model somewhere: measurements may influence each other, or "
        "components overlap too much to be counted. More cases, or leaving out the measurement "
        "that is named, helps.",
    ),
    "sec:bg": Meaning(
        "The hidden causes explain every dependence",
        "Some correlations remain unexplained",
        "Given the states of the hidden causes, the measurements are independent of each other.",
        "The measurements that are named influence each other, or share a cause that was not "
        "found. Put them together into one measurement, or leave one of them out.",
    ),
    "sec:exact": Meaning(
        "The components have the assumed shape",
        "Some components do not have the assumed shape",
        "Within one component, cases scatter as the assumed kind of distribution says.",
        "The probabilities of the states of single cases are approximate, because of the "
        "measurements that are named; a transformation, such as the logarithm, may help.",
    ),
    "continuous": Meaning(
        "The causes are discrete",
        "A continuous cause would fit better",
        "The states explain the dependence among the measurements better than a continuous cause "
        "would.",
        "Something that varies continuously (a size, a temperature, a drift) may be behind these "
        "data. States are then steps along it, and their number means little: a factor analysis "
        "may fit better.",
    ),
    "background": Meaning(
        "The background knowledge holds",
        "The data contradict the background knowledge",
        "Each hidden cause that was described beforehand was found, with the number of states and "
        "the measurements that it was said to have.",
        "The data contradict a statement about the hidden causes that are named, or it fits "
        "several of them. Check it: their names, and the arrows between them, may be wrong.",
    ),
    "agreement": Meaning(
        "The data alone show the declared graph",
        "The data agree with the declared graph no better than by chance",
        "Without the graph that you declared (a Q-matrix), the data lead to one that shares more "
        "of its edges than chance does.",
        "The causes that you declared are fitted as they stand, but the data show other ones. "
        "Learn without the declared graph and compare the two.",
    ),
    "asked": Meaning(
        "The causes are as many as you asked for",
        "The causes are not as many as you asked for",
        "You said how many hidden causes there are, or how many states each of them has.",
        "No candidate has these numbers; the nearest one is shown. Ask for others, or leave them "
        "to the data.",
    ),
}
_UNKNOWN = "The paper explains this condition."


def _unknown(name: str) -> Meaning:
    return Meaning(name, f"{name}: fails", _UNKNOWN, _UNKNOWN)


def meaning_of(verdict: Verdict) -> Meaning:
    """The plain words for an assumption, or its own name where there are none."""
    return MEANINGS.get(verdict.label, _unknown(sentence(verdict.name)))
