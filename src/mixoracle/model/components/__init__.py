"""The distributions of one observed variable, one module for each family of components."""

from mixoracle.model.components.base import ComponentSet
from mixoracle.model.components.categorical import CategoricalComponents
from mixoracle.model.components.counts import CountComponents
from mixoracle.model.components.diagonal import DiagonalComponents
from mixoracle.model.components.gamma import GammaComponents
from mixoracle.model.components.gaussian import GaussianComponents
from mixoracle.model.components.product import ProductComponents
from mixoracle.model.components.student import StudentComponents

__all__ = [
    "CategoricalComponents",
    "ComponentSet",
    "CountComponents",
    "DiagonalComponents",
    "GammaComponents",
    "GaussianComponents",
    "ProductComponents",
    "StudentComponents",
]
