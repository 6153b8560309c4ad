"""lm-eval in two processes: `lm_eval_in_processes.py [[FOLDER, ARGUMENT...]...]` runs all commands in one launch.

The processes find what `accelerate launch` gives them, from the same agent of torch. They are forked after the imports,
which would take most of the time.
"""

from __future__ import annotations

import json
import sys
from contextlib import chdir
from pathlib import Path

from standins.commands import run_lm_eval


def run_all(commands: list[list[str]]) -> None:
    """The commands, one after another, each in its folder."""
    for folder, *arguments in commands:
        with chdir(Path(folder)):
            run_lm_eval(arguments)


if __name__ == "__main__":
    import accelerate  # noqa: F401
    import lm_eval.evaluator  # noqa: F401
    import open_clip  # noqa: F401
    from torch.distributed.launcher.api import LaunchConfig, elastic_launch
    from transformers import T5ForConditionalGeneration  # noqa: F401

    import humor_tasks.on_lm_eval.providers.clip  # noqa: F401
    import humor_tasks.on_lm_eval.providers.ofa  # noqa: F401
    import humor_tasks.on_lm_eval.providers.text  # noqa: F401

    local = {"max_restarts": 0, "rdzv_backend": "c10d", "rdzv_endpoint": "localhost:0", "run_id": "tests"}
    elastic_launch(LaunchConfig(1, 1, 2, start_method="fork", **local), run_all)(json.loads(sys.argv[1]))
