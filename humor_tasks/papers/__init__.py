"""What is said of corpora and scores, as data: papers, published figures, levels, considerations."""
