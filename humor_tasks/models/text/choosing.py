"""Text models by name, for the harnesses: seq2seq models and encoders that score choices."""

from __future__ import annotations

from collections.abc import Sequence

from humor_tasks.errors import BadInput
from humor_tasks.models.choosers.chooser import Chooser, Question, answer
from humor_tasks.models.text.encoder import Ranker
from humor_tasks.models.text.language import LanguageModel
from humor_tasks.models.text.opening import about, kind_of
from humor_tasks.models.text.seq2seq import Seq2Seq


class LanguageChooser(Chooser):
    """A language model as a Chooser: scores are log-likelihoods of the letters, or words, after the prompt."""

    reads_prompt = True

    def __init__(self, model: LanguageModel) -> None:
        self.model = model
        self.name = f"text/{model.name}"

    def check(self, question: Question) -> None:
        """Raise BadInput for a question about a picture, which the model would not see."""
        if question.picture is not None:
            raise BadInput(
                f"{question.id:.60}: {self.name} reads only text, and this question has a picture: use "
                "setting=description or setting=caption_only (in MOCK input=description)."
            )

    def score(self, questions: Sequence[Question]) -> list[list[float]]:
        """See `Chooser.score`."""
        labels = [[f" {answer(question, i)}" for i in range(len(question.choices))] for question in questions]
        found = self.model.loglikelihoods([question.prompt for question in questions], labels)
        return [[each.logprob for each in some] for some in found]


def open_text(
    name: str,
    device: str = "auto",
    precision: str = "fp32",
    batch_size: int = 0,
    revision: str | None = None,
) -> Chooser:
    """The seq2seq model, or the encoder with a trained head, of a folder or hub id; see `Seq2Seq.load`.

    Raises BadInput for an unknown model, an encoder without a head, and a causal model, which both harnesses run
    themselves.
    """
    kind = about(name).get("kind") or kind_of(name, revision)
    if kind == "causal":
        raise BadInput(
            f"text/{name} is a causal model, which both harnesses run themselves: in Inspect --model hf/{name} (a "
            f"folder: --model hf/local -M model_path={name}), in lm-eval --model hf --model_args pretrained={name}."
        )
    if kind == "seq2seq":
        return LanguageChooser(Seq2Seq.load(name, device, precision, batch_size, revision))
    if precision != "fp32":
        raise BadInput(f"text/{name}: precision is '{precision}'; encoders compute in fp32. Leave it out.")
    return Ranker.load(name, device, batch_size)
