"""Training image-text models on sub-tasks of MOCK (section 5.2), from pictures, clips or descriptions."""
