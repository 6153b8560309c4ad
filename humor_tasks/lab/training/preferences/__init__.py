"""Preference data in TRL's format, from ranking rows and from a crowd's ratings: `humor-tasks export preferences`."""
