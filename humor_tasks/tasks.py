"""The Inspect tasks, for use in Python code: `from humor_tasks.tasks import matching`.

On the command line they are `humor_tasks/matching` and so on. `humor-tasks parameters` prints tables of the parameters.
Each module names its own tasks.
"""

from humor_tasks.on_inspect.tasks.caption_contest import *  # noqa: F403
from humor_tasks.on_inspect.tasks.caption_contest import __all__ as _caption_contest
from humor_tasks.on_inspect.tasks.crowd import *  # noqa: F403
from humor_tasks.on_inspect.tasks.crowd import __all__ as _crowd
from humor_tasks.on_inspect.tasks.humicroedit import *  # noqa: F403
from humor_tasks.on_inspect.tasks.humicroedit import __all__ as _humicroedit
from humor_tasks.on_inspect.tasks.humorbench import *  # noqa: F403
from humor_tasks.on_inspect.tasks.humorbench import __all__ as _humorbench
from humor_tasks.on_inspect.tasks.mock import *  # noqa: F403
from humor_tasks.on_inspect.tasks.mock import __all__ as _mock
from humor_tasks.on_inspect.tasks.preference import *  # noqa: F403
from humor_tasks.on_inspect.tasks.preference import __all__ as _preference

__all__ = [*_caption_contest, *_crowd, *_humicroedit, *_humorbench, *_mock, *_preference]
