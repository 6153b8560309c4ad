"""Preference data in TRL's format: `rows` of a ranking benchmark, and the ratings of a `crowd`; `export-preferences`."""
