"""Component families: how one component of an observed variable is described and judged."""

from mixoracle.oracle.families.base import Family, LinearFamily, Patterns, Prior
from mixoracle.oracle.families.categorical import CategoricalFamily
from mixoracle.oracle.families.counts import CountFamily
from mixoracle.oracle.families.diagonal import DiagonalFamily
from mixoracle.oracle.families.gamma import GammaFamily
from mixoracle.oracle.families.gaussian import GaussianFamily
from mixoracle.oracle.families.product import ProductFamily
from mixoracle.oracle.families.student import StudentFamily

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
