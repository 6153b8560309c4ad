"""Fine-tuning CLIP to choose captions: `humor-tasks train clip` (the extras `train` and `clip`).

The system "CLIP ViT-L/14@336px fine-tuned" of Hessel et al., ACL 2023, arXiv 2209.06293, and variants of it.
"""
