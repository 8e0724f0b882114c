"""Component families: how one component of an observed variable is described and judged."""

from mixoracle.families.base import (
    Averages,
    ComponentSet,
    Entry,
    Family,
    LinearFamily,
    Patterns,
    Prior,
)
from mixoracle.families.categorical import CategoricalComponents, CategoricalFamily
from mixoracle.families.counts import CountComponents, CountFamily
from mixoracle.families.diagonal import DiagonalComponents, DiagonalFamily
from mixoracle.families.gamma import GammaComponents, GammaFamily
from mixoracle.families.gaussian import GaussianComponents, GaussianFamily
from mixoracle.families.product import ProductComponents, ProductFamily
from mixoracle.families.registry import register, registered
from mixoracle.families.student import StudentComponents, StudentFamily
from mixoracle.families.submixture import SubmixtureComponents, SubmixtureFamily
from mixoracle.families.units import FamilyEntry

__all__ = [
    "Averages",
    "CategoricalComponents",
    "CategoricalFamily",
    "ComponentSet",
    "CountComponents",
    "CountFamily",
    "DiagonalComponents",
    "DiagonalFamily",
    "Entry",
    "Family",
    "FamilyEntry",
    "GammaComponents",
    "GammaFamily",
    "GaussianComponents",
    "GaussianFamily",
    "LinearFamily",
    "Patterns",
    "Prior",
    "ProductComponents",
    "ProductFamily",
    "StudentComponents",
    "StudentFamily",
    "SubmixtureComponents",
    "SubmixtureFamily",
    "register",
    "registered",
]
