"""Preference data in TRL's format, from ranking rows and from the crowd's ratings: `humor-tasks export preferences`.

| module | contents |
|---|---|
| `pairs` | the rule by which the crowd's ratings make pairs |
| `crowd`, `ranking` | the two sources, by split |
| `writing` | TRL's two formats, JSON lines and the card |
"""
