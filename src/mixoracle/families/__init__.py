"""Component families: how one component of an observed variable is described and judged."""

from mixoracle.families.base import Family, LinearFamily, Patterns, Prior
from mixoracle.families.categorical import CategoricalFamily
from mixoracle.families.counts import CountFamily
from mixoracle.families.diagonal import DiagonalFamily
from mixoracle.families.gamma import GammaFamily
from mixoracle.families.gaussian import GaussianFamily
from mixoracle.families.product import ProductFamily
from mixoracle.families.student import StudentFamily

__all__ = [
    "CategoricalFamily",
    "CountFamily",
    "DiagonalFamily",
    "Family",
    "GammaFamily",
    "GaussianFamily",
    "LinearFamily",
    "Patterns",
    "Prior",
    "ProductFamily",
    "StudentFamily",
]
