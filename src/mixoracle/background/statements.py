"""The user's statements about the latents, checked for contradictions among themselves."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import combinations
from os import PathLike

import numpy as np

from mixoracle._arrays import Bools
from mixoracle._checks import check_whole
from mixoracle.background.matching import ResolvedBackground, marked_names
from mixoracle.errors import InvalidInputError, KnowledgeConflictError
from mixoracle.model.state_names import checked_states
from mixoracle.structure import Knowledge

Variable = str | int


@dataclass(frozen=True, init=False)
class KnownLatent:
    """Statements about one latent.

    Parameters
    ----------
    name : str
        What to call it, in the model and in ``Background.edges``.
    children : iterable of str or int
        Observed variables that it drives, by name or counted from 0.
    not_children : iterable of str or int
        Observed variables that it does not drive.
    exactly : bool
        Whether ``children`` are all that it drives.
    domain_size : int, optional
        Its number of states.
    states : sequence of str, optional
        What to call its states, in the order in which a model counts them: from low to high where
        the children have such an order, else from the most frequent on.

    Examples
    --------
    >>> KnownLatent("wear", children=["sound", "heat"], domain_size=3).domain_size
    3
    """

    name: str
    children: frozenset[Variable]
    not_children: frozenset[Variable]
    exactly: bool
    domain_size: int | None
    states: tuple[str, ...] | None

    def __init__(
        self,
        name: str,
        children: Iterable[Variable] = (),
        not_children: Iterable[Variable] = (),
        *,
        exactly: bool = False,
        domain_size: int | None = None,
        states: Sequence[str] | None = None,
    ) -> None:
        if not isinstance(name, str) or not name:
            raise InvalidInputError(f"a known latent needs a name that is not empty; got {name!r}")
        driven = _variables(name, "children", children)
        spared = _variables(name, "not_children", not_children)
        if domain_size is not None:
            check_whole(f"the domain size of {name!r}", domain_size, at_least=2)
        called = None if states is None else checked_states(name, states, domain_size)
        if called is not None:
            domain_size = len(called)
        if exactly and not driven:
            raise KnowledgeConflictError(
                f"{name!r} is said to drive nothing at all; name a child, or leave exactly out"
            )
        if not driven and not spared and domain_size is None:
            raise InvalidInputError(
                f"nothing is said about {name!r}, so it could be any latent; give children, "
                "not_children or a domain size"
            )
        _refuse_both(name, driven & spared)
        vars(self).update(name=name, children=driven, not_children=spared)
        vars(self).update(exactly=bool(exactly), domain_size=domain_size, states=called)

    def columns(self, observed_names: Sequence[str]) -> tuple[Bools, Bools]:
        """Which of the observed variables it drives and which not, an (n,) array each."""
        driven, spared = (
            _marked(self.name, members, observed_names)
            for members in (self.children, self.not_children)
        )
        _refuse_both(self.name, marked_names(driven & spared, observed_names))
        if spared.all():
            raise KnowledgeConflictError(
                f"{self.name!r} is said to drive none of the {len(observed_names)} observed "
                "variables; each latent drives at least one"
            )
        return driven, ~driven if self.exactly else spared


@dataclass(frozen=True, init=False)
class Background:
    """Statements about Γ, the domain sizes and Λ before learning.

    Parameters
    ----------
    latents : iterable of KnownLatent
        Further latents may exist; they are called H1, H2, … as ever.
    edges : Knowledge, optional
        Arrows among these latents, by name or by place in ``latents``.
    complete : bool
        Whether there are no further latents, and all is known of Γ: each latent then has
        ``exactly`` its children and a domain size. The model with this Γ is learned as it stands.

    Examples
    --------
    >>> wear = KnownLatent("wear", children=["sound"])
    >>> heat = KnownLatent("heat", children=["oil"], not_children=["sound"])
    >>> Background([wear, heat], Knowledge(required=[("wear", "heat")])).names
    ('wear', 'heat')
    """

    latents: tuple[KnownLatent, ...]
    edges: Knowledge
    complete: bool

    def __init__(
        self,
        latents: Iterable[KnownLatent] = (),
        edges: Knowledge | None = None,
        *,
        complete: bool = False,
    ) -> None:
        known = tuple(latents)
        for latent in known:
            if not isinstance(latent, KnownLatent):
                raise InvalidInputError(
                    f"latents should be KnownLatent records; got one of type "
                    f"{type(latent).__name__}"
                )
        if edges is not None and not isinstance(edges, Knowledge):
            raise InvalidInputError(
                f"edges should be a structure.Knowledge; got {type(edges).__name__}"
            )
        vars(self).update(latents=known, edges=edges or Knowledge(), complete=bool(complete))
        twice = sorted({name for name in self.names if self.names.count(name) > 1})
        if twice:
            raise KnowledgeConflictError(
                f"two known latents are called {twice[0]!r}; put what is known into one of them"
            )
        self.edges.resolved(self.names)
        open_ended = [k.name for k in known if not k.exactly or k.domain_size is None]
        if complete and (open_ended or not known):
            what = f"{open_ended[0]!r} leaves something open" if open_ended else "there is none"
            raise KnowledgeConflictError(
                "complete knowledge needs exactly=True and a domain size for every latent; "
                f"{what}: say it, or leave complete out"
            )

    @staticmethod
    def read(path: str | PathLike[str]) -> Background:
        """Statements from a TOML file; see :mod:`mixoracle.background.reading` for how."""
        from mixoracle.background.reading import read_background

        return read_background(path)

    @staticmethod
    def read_qmatrix(path: str | PathLike[str]) -> Background:
        """Complete knowledge from a table of items (rows) and skills (columns), 0 or 1."""
        from mixoracle.background.reading import read_qmatrix

        return read_qmatrix(path)

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the known latents, in their order."""
        return tuple(latent.name for latent in self.latents)

    def resolved(self, observed_names: Sequence[str]) -> ResolvedBackground:
        """Names of observed variables to places; raise where the knowledge contradicts itself."""
        for name in self.names:
            if name in observed_names:
                raise InvalidInputError(
                    f"{name!r} is an observed variable; call the latent something else"
                )
        columns = [latent.columns(observed_names) for latent in self.latents]
        for (one, first), (two, second) in combinations(zip(self.latents, columns, strict=True), 2):
            nothing_open = (first[0] | first[1]).all()
            if nothing_open and np.array_equal(first, second):
                raise KnowledgeConflictError(
                    f"{one.name!r} and {two.name!r} are said to drive exactly the same variables; "
                    "no data can distinguish such twins (assm:twins): declare one latent"
                )
        shape = (len(columns), len(observed_names))
        return ResolvedBackground(
            self,
            tuple(observed_names),
            np.array([driven for driven, _ in columns], dtype=bool).reshape(shape).T,
            np.array([spared for _, spared in columns], dtype=bool).reshape(shape).T,
        )


def _variables(name: str, kind: str, members: Iterable[Variable]) -> frozenset[Variable]:
    listed = None if isinstance(members, str) or not isinstance(members, Iterable) else [*members]
    if listed is None or any(
        isinstance(member, bool) or not isinstance(member, str | int | np.integer)
        for member in listed
    ):
        raise InvalidInputError(
            f"{kind} of {name!r} should be a collection of names or numbers of observed variables; "
            f"got {members!r}"
        )
    return frozenset(member if isinstance(member, str) else int(member) for member in listed)


def _marked(name: str, members: Iterable[Variable], observed_names: Sequence[str]) -> Bools:
    """Names or places to an (n,) array that marks them."""
    marked = np.zeros(len(observed_names), dtype=bool)
    for member in sorted(members, key=str):
        if isinstance(member, str) and member in observed_names:
            marked[observed_names.index(member)] = True
        elif not isinstance(member, str) and 0 <= member < len(observed_names):
            marked[member] = True
        else:
            raise InvalidInputError(
                f"the statement about {name!r} names the observed variable {member!r}; there are "
                f"{', '.join(observed_names)}, counted from 0"
            )
    return marked


def _refuse_both(name: str, both: Iterable[Variable]) -> None:
    clash = sorted(map(str, both))
    if clash:
        raise KnowledgeConflictError(
            f"{clash[0]} is said to be a child of {name!r} and not to be one; drop one of the two"
        )


def checked(knowledge: object, latent_search: object) -> Background:
    """What is known, as :class:`Background`; refused where a search would not be told of arrows.

    Examples
    --------
    >>> checked(None, "auto").names
    ()
    """
    if knowledge is None:
        return Background()
    if not isinstance(knowledge, Background):
        raise InvalidInputError(
            "knowledge should be a mixoracle.background.Background; got "
            f"{type(knowledge).__name__}: wrap it, as in Background(latents=..., edges=...)"
        )
    if callable(latent_search) and knowledge.edges != Knowledge():
        raise InvalidInputError(
            "knowledge holds arrows, but latent_search is a callable that does not receive "
            "them; name one of the searches, or let the callable hold the arrows itself"
        )
    return knowledge
