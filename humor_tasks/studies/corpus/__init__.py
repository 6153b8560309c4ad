"""Building corpora from public sources: `humor-tasks build`.

| module | contents |
|---|---|
| `mock` | MOCK's sub-tasks as a dataset folder: splits, options, sizes |
| `mock_items` | the common representation of all sources of MOCK |
| `mock_dialogues`, `mock_posts`, `mock_cartoons` | MUStARD and WITS; MORE and Cai et al.; the New Yorker's contest |
| `mock_card` | the card of a built folder, with the rows kept and left out |
| `distractors`, `distractor_models`, `distractors_cli` | distractors for MOCK's matching: `humor-tasks build options` |
| `newyorker`, `newyorker_cli` | the caption contest's corpus from raw contests |
| `cli` | the command line |
"""
