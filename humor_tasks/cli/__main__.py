"""`python -m humor_tasks.cli`, for launchers such as accelerate."""

from humor_tasks.cli import main

main()
