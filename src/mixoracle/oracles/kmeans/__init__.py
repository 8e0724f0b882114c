"""The paper's own oracle: k-means, silhouettes and votes."""

from mixoracle.oracles.kmeans.oracle import KMeansOracle

__all__ = ["KMeansOracle"]
