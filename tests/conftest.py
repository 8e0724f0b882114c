"""Settings for all tests."""

from hypothesis import settings

# A deadline for each example measures how busy the machine is; pytest-timeout stops what hangs.
settings.register_profile("no_deadline", deadline=None)
settings.load_profile("no_deadline")
