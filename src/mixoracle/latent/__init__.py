"""Steps (c) and (d): the map L, Γ and the weights to the joint distribution P(H)."""

from mixoracle.latent.joint import joint_table, layout, marginal

__all__ = ["joint_table", "layout", "marginal"]
