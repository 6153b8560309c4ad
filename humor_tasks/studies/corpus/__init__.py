"""Corpora put together from public sources, by `humor-tasks build`.

| module | holds |
|---|---|
| `mock` | MOCK's sub-tasks as a dataset folder: splits, options, sizes |
| `mock_items` | what all of MOCK's sources are read into |
| `mock_dialogues`, `mock_posts`, `mock_cartoons` | MUStARD and WITS; MORE and Cai et al.; the New Yorker's contest |
| `mock_card` | the card of what was built, with what was kept and dropped |
| `cli` | the command line |
"""
