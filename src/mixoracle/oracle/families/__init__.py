"""Component families: how one component of an observed variable is described and judged."""

from mixoracle.oracle.families.base import Family, Prior
from mixoracle.oracle.families.gaussian import GaussianFamily

__all__ = ["Family", "GaussianFamily", "Prior"]
