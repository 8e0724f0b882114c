"""Labels of all variables together to consistent explanations: latents, their states, Γ."""
