"""Pictures and clips that are read late and checked before they are used."""
