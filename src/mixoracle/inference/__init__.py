"""EM over the structured model, and what the hidden states leave unexplained."""
