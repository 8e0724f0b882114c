"""The component of every row in every variable, and the components over X that labels make."""
