"""Simulated problems and the paper's worked examples, with their known truth."""
