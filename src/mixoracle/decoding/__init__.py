"""Labels of all variables together to consistent explanations: latents, their states, Γ."""

from mixoracle.decoding.decoding import decode
from mixoracle.decoding.explanation import Explanation, Move

__all__ = ["Explanation", "Move", "decode"]
