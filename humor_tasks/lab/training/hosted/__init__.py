"""`humor-tasks export finetune`: a benchmark's train rows as chat examples, and their fine-tuning at a provider."""
