"""Background knowledge about the latents: their children, numbers of states and arrows.

A :class:`KnownLatent` says in the user's own words which variables one latent drives, which not,
and how many states it has; :class:`Background` puts several together with arrows among them. A
learned Γ is matched to them so that as few statements as possible are broken, the matched latents
take the names, and entries of Γ that still contradict a statement are corrected. The verdict names
the rest: a latent that was not found, another number of states, or knowledge that fits two latents
alike.

Statements are taken to be true. A found latent can only be the one that is meant if it drives one
of the children that are known, or, where none is known, something that it is not said to leave
alone: without that a correction would invent a latent.
"""

from mixoracle.background.matching import LABEL, Application, ResolvedBackground
from mixoracle.background.statements import Background, KnownLatent, checked

__all__ = ["LABEL", "Application", "Background", "KnownLatent", "ResolvedBackground", "checked"]
