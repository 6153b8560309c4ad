"""The papers that several benchmarks or metrics cite, each one once, for cards, registers and the site."""

from __future__ import annotations

import re
from dataclasses import dataclass


@dataclass(frozen=True)
class Paper:
    """A paper.

    key: a short name, which is also the name of the family of its tasks in lm-eval. citation: authors, venue and year,
    as logs and reports print them. arxiv: the arXiv number, such as 2209.06293. url: the published version, if it is
    not on arXiv. code: the authors' repository. bibtex: the BibTeX entry.
    """

    key: str = ""
    citation: str = ""
    title: str = ""
    arxiv: str = ""
    url: str = ""
    code: str = ""
    bibtex: str = ""

    def __post_init__(self) -> None:
        if self.arxiv and not re.fullmatch(r"\d{4}\.\d{4,5}", self.arxiv):
            raise ValueError(f"paper {self.key}: arxiv is {self.arxiv!r}; give the number, such as 2209.06293.")
        for name in ("url", "code"):
            if (address := getattr(self, name)) and not address.startswith("https://"):
                raise ValueError(f"paper {self.key}: {name} is {address!r}; give an address that begins with https://.")

    @property
    def at_arxiv(self) -> str:
        """The address on arXiv; "" if it is not there."""
        return f"https://arxiv.org/abs/{self.arxiv}" if self.arxiv else ""

    @property
    def address(self) -> str:
        """The address of the paper; "" if it is not public."""
        return self.url or self.at_arxiv


CAPTION_CONTEST = Paper(
    key="nyc",
    citation="Hessel et al., ACL 2023, arXiv 2209.06293",
    title='Do Androids Laugh at Electric Sheep? Humor "Understanding" Benchmarks from The New Yorker Caption Contest',
    arxiv="2209.06293",
    code="https://github.com/jmhessel/caption_contest_corpus",
    bibtex="""@inproceedings{hessel2023androids,
  title = {Do Androids Laugh at Electric Sheep?
           {Humor} ``Understanding'' Benchmarks from {The New Yorker Caption Contest}},
  author = {Hessel, Jack and Marasovi{\\'c}, Ana and Hwang, Jena D. and Lee, Lillian and Da, Jeff and
            Zellers, Rowan and Mankoff, Robert and Choi, Yejin},
  booktitle = {Proceedings of the 61st Annual Meeting of the Association for Computational Linguistics},
  year = {2023}
}""",
)
CROWD = Paper(
    key="crowd",
    citation="Zhang et al., NeurIPS 2024, arXiv 2406.10522",
    title="Humor in AI: Massive Scale Crowd-Sourced Preferences and Benchmarks for Cartoon Captioning",
    arxiv="2406.10522",
    code="https://github.com/yguooo/cartoon-caption-generation",
    bibtex="""@inproceedings{zhang-etal-2024-humor,
  title = {{Humor in AI}: Massive Scale Crowd-Sourced Preferences and Benchmarks for Cartoon Captioning},
  author = {Zhang, Jifan and Jain, Lalit and Guo, Yang and Chen, Jiayi and Zhou, Kuan Lok and Suresh, Siddharth and
            Wagenmaker, Andrew and Sievert, Scott and Rogers, Timothy and Jamieson, Kevin and Mankoff, Robert and
            Nowak, Robert},
  booktitle = {NeurIPS Datasets and Benchmarks},
  year = {2024},
}""",
)
HUMORBENCH = Paper(
    key="humorbench",
    citation="Narad et al. 2025, arXiv 2507.21476",
    title="Which LLMs Get the Joke? Probing Non-STEM Reasoning Abilities with HumorBench",
    arxiv="2507.21476",
    code="https://github.com/ReubenNarad/Humor-Bench",
    bibtex="""@misc{narad2025humorbench,
  title = {Which {LLMs} Get the Joke? Probing Non-{STEM} Reasoning Abilities with {HumorBench}},
  author = {Narad, Reuben and Suresh, Siddharth and Chen, Jiayi and Dysart-Bricken, Pine S.L. and Mankoff, Bob and
            Nowak, Robert and Zhang, Jifan and Jain, Lalit},
  year = {2025},
  eprint = {2507.21476},
  archivePrefix = {arXiv}
}""",
)
HUMICROEDIT = Paper(
    key="humicroedit",
    citation="Hossain et al., SemEval-2020 Task 7, arXiv 2008.00304",
    title="SemEval-2020 Task 7: Assessing Humor in Edited News Headlines",
    arxiv="2008.00304",
    url="https://aclanthology.org/2020.semeval-1.98/",
    code="https://github.com/n-hossain/semeval-2020-task-7-humicroedit",
    bibtex="""@inproceedings{hossain2020semeval,
  title = {{SemEval}-2020 Task 7: Assessing Humor in Edited News Headlines},
  author = {Hossain, Nabil and Krumm, John and Gamon, Michael and Kautz, Henry},
  booktitle = {Proceedings of the Fourteenth Workshop on Semantic Evaluation},
  year = {2020}
}""",
)
MOCK = Paper(
    key="mock",
    citation="MOCK, huMor-sarcasm cOmprehension benChmarK",
    title="MOCK: Can LLMs Really Understand Humor-Sarcasm?",
    bibtex="""@unpublished{mock,
  title = {{MOCK}: Can {LLMs} Really Understand Humor-Sarcasm?},
  author = {Anonymous},
  note = {Anonymous ACL submission, under review}
}""",
)
MWAHAHA = Paper(
    key="mwahaha",
    citation="Castro et al., SemEval-2026 Task 1",
    title="SemEval-2026 Task 1: MWAHAHA, Models Write Automatic Humor And Humans Annotate",
    url="https://aclanthology.org/2026.semeval-1.454/",
    code="https://github.com/pln-fing-udelar/semeval-2026-humor-gen",
    bibtex="""@inproceedings{castro-etal-2026-semeval,
  title = {{SemEval}-2026 Task 1: {MWAHAHA}, Models Write Automatic Humor And Humans Annotate},
  author = {Castro, Santiago and Chiruzzo, Luis and Góngora, Santiago and Deng, Naihao and Rahili, Salar and
            Sastre, Ignacio and Rosá, Aiala and Amoroso, Victoria and Rey, Guillermo and Moncecchi, Guillermo and
            Meaney, J. A. and Prada, Juan José and Mihalcea, Rada},
  booktitle = {Proceedings of the 20th International Workshop on Semantic Evaluation (2026)},
  year = {2026}
}""",
)

TIME_TRAVEL = Paper(
    key="recitation",
    citation="Golchin and Surdeanu, ICLR 2024, arXiv 2308.08493",
    title="Time Travel in LLMs: Tracing Data Contamination in Large Language Models",
    arxiv="2308.08493",
    code="https://github.com/shahriargolchin/time-travel-in-llms",
    bibtex="""@inproceedings{golchin2024time,
  title = {Time Travel in {LLMs}: Tracing Data Contamination in Large Language Models},
  author = {Golchin, Shahriar and Surdeanu, Mihai},
  booktitle = {The Twelfth International Conference on Learning Representations},
  year = {2024}
}""",
)

PAPERS = (CAPTION_CONTEST, CROWD, HUMORBENCH, HUMICROEDIT, MOCK, MWAHAHA, TIME_TRAVEL)
"""All of the papers above."""
