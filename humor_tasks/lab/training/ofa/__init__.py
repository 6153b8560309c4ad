"""Fine-tuning OFA to describe cartoons: `humor-tasks train ofa` (the extras `train` and `ofa`).

The first half of the system "OFA-Huge -> T5" of Hessel et al., ACL 2023, arXiv 2209.06293: four questions about a
cartoon, with the annotators' answers as targets. The trained model is `ofa/RUN/model`; `humor-tasks describe` replaces
the annotators' descriptions with its answers.
"""
