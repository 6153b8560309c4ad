from __future__ import annotations

from hypothesis import settings

# The first example of a property pays for its imports (numpy, scipy), and CI machines are shared.
settings.register_profile("scorers", deadline=None)
settings.load_profile("scorers")
