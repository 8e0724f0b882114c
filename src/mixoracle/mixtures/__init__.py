"""Mixtures of one variable or of all: prepared data, pieces, evidence, the E-step."""
