"""New Yorker Caption Contest (Hessel et al., ACL 2023): matching, ranking, explanation, brainstorm, recitation."""
