"""MOCK's sub-tasks as a dataset folder, from public sources: `humor-tasks build mock` and `build options`.

| module | contents |
|---|---|
| `stills`, `dialogues` | the sources: cartoons and posts; comedy |
| `items` | what every source gives |
| `building` | splits, rows, media and the card of the folder |
| `block_design` | distractors that are lines of other items |
| `options`, `option_models` | distractors by models, as published: planning and writing; asking models and judges |
| `shortcuts` | shortcut baselines for the card |
"""
