"""Watches for three lm-eval modules, so that humor_tasks._lm_eval_backport can complete them; see there for why.

`humor_tasks_lm_eval.pth`, installed beside this file, calls `install()` at every Python start. Hence this file is
short, imports only what Python has loaded by then, and lets no failure out: the worst outcome is lm-eval without
our tasks. HUMOR_TASKS_NO_LM_EVAL_HOOK=1 turns it off. Wheel and editable installs copy both files: after editing
them, install again.
"""

import os
import sys

COMPLETED = {"lm_eval.tasks._index", "lm_eval.models", "lm_eval._cli.run"}


def install() -> None:
    """Begin to watch, unless the environment forbids it or this was done before."""
    if os.environ.get("HUMOR_TASKS_NO_LM_EVAL_HOOK", "") in ("", "0") and not any(
        isinstance(finder, LmEvalFinder) for finder in sys.meta_path
    ):
        sys.meta_path.insert(0, LmEvalFinder())


class LmEvalFinder:
    """Finds nothing by itself: delegates to the real finders, then wraps the loader."""

    def __init__(self) -> None:
        self._looking_for: set[str] = set()

    def find_spec(self, name, path=None, target=None):  # type: ignore[no-untyped-def]
        """The real finders' answer for the modules to complete; None, at the cost of one look-up, for all others."""
        if name not in COMPLETED or name in self._looking_for:
            return None
        self._looking_for.add(name)  # another hook that asks all finders, as this one does, must not come back here
        try:
            for finder in list(sys.meta_path):
                find = getattr(finder, "find_spec", None) if finder is not self else None
                spec = find(name, path, target) if find else None
                if spec is not None:
                    from humor_tasks import _lm_eval_backport

                    _lm_eval_backport.complete(spec)
                    return spec
        except Exception:
            return None  # Python goes on to ask the real finders itself, and reports what is wrong with them
        finally:
            self._looking_for.discard(name)
        return None
