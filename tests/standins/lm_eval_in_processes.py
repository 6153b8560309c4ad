"""lm-eval in two processes: `lm_eval_in_processes.py [[FOLDER, ARGUMENT...]...]` runs all commands in one launch.

The processes find what `accelerate launch` gives them, from the same agent of torch. They are forked after the imports,
which would take most of the time.
"""

from __future__ import annotations

import gc
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
    gc.disable()  # a fifth of what the imports would take
    import accelerate  # noqa: F401
    import lm_eval.evaluator  # noqa: F401
    import open_clip  # noqa: F401
    import torch.utils.collect_env as environment
    from torch.distributed.launcher.api import LaunchConfig, elastic_launch
    from transformers import T5ForConditionalGeneration  # noqa: F401

    import humor_tasks.on_lm_eval.providers.clip  # noqa: F401
    import humor_tasks.on_lm_eval.providers.ofa  # noqa: F401
    import humor_tasks.on_lm_eval.providers.text  # noqa: F401

    gc.freeze()
    gc.enable()
    environment.get_pretty_env_info = lambda: "not asked for: `pip list` and others take a second a run"
    local = {"max_restarts": 0, "rdzv_backend": "c10d", "rdzv_endpoint": "localhost:0", "run_id": "tests"}
    elastic_launch(LaunchConfig(1, 1, 2, start_method="fork", **local), run_all)(json.loads(sys.argv[1]))
