"""The commands `humor-tasks items`, `collect` and `qualify`: forms and ratings, their results, and who takes part."""

from __future__ import annotations

from pathlib import Path

import click

from humor_tasks.errors import BadInput

_PATH = click.Path(path_type=Path)


@click.command()
@click.argument("kind")
@click.argument("source", type=_PATH)
@click.option("--size", type=click.IntRange(1), help="Number of items, sampled at random. Default: all.")
@click.option("--seed", default=1234, show_default=True, help="Seed of the sample of --size.")
@click.option("-o", "--output", required=True, type=_PATH, help="The file to write (JSON lines).")
def items(kind: str, source: Path, size: int | None, seed: int, output: Path) -> None:
    """Write the items of SOURCE to fill in or to rate, for `humor-tasks annotate`.

    KIND: description or links, of a folder with NUMBER.jpg (cartoons); literal, of a MOCK folder; editing, of a CSV
    with the column original; rating, of a CSV with id, original and edit. In headlines, <word/> marks a word.
    """
    from humor_tasks.data.writing import check_output, write_json_lines
    from humor_tasks.errors import check_choice
    from humor_tasks.people.items import read_pairs
    from humor_tasks.people.sources import KINDS

    make = KINDS[check_choice("kind", kind, KINDS)]
    check_output(output, source)
    write_json_lines(output, make(kind, source, size, seed, output))
    click.echo(f"{output}: {len(read_pairs(output))} items.")


@click.command()
@click.argument("votes", type=_PATH)
@click.option("--items", "pairs", required=True, type=_PATH, help="The file of items.")
@click.option("--into", type=_PATH, help="The contest's annotations (JSON) to which the new ones are added.")
@click.option("-o", "--output", required=True, type=_PATH, help="The file to write.")
def collect(votes: Path, pairs: Path, into: Path | None, output: Path) -> None:
    """Write the annotations of VOTES in the form of their corpus.

    Descriptions and links: JSON for `build newyorker --annotations`, with hashed names of annotators. Literal
    descriptions: JSON {media_id: text}. Edited headlines, and rated ones: CSV as Humicroedit's.
    """
    from humor_tasks.data.reading import read_body
    from humor_tasks.data.writing import check_output
    from humor_tasks.people.collecting import write_annotations
    from humor_tasks.people.items import choices_of, read_pairs
    from humor_tasks.people.vote_files import read_json_rows, read_votes

    check_output(output, votes, pairs)
    known = read_pairs(pairs)
    rows = {str(row["id"]).strip(): row for _, row in read_json_rows(pairs, read_body(pairs))}
    found = read_votes(votes, rows, choices=choices_of(known))
    count = write_annotations(output, known, found.votes, rows, into)
    click.echo(f"{output}: {count} annotations by {len({vote.rater for vote in found.votes})} annotators.")


@click.command()
@click.argument("votes", type=_PATH)
@click.option("--pairs", required=True, type=_PATH, help="The test set: a file of items, some with an answer.")
@click.option(
    "--threshold", default=0.8, show_default=True, type=click.FloatRange(0, 1), help="Share of right answers to go on."
)
@click.option("-o", "--output", required=True, type=_PATH, help="The file to write (CSV).")
def qualify(votes: Path, pairs: Path, threshold: float, output: Path) -> None:
    """Write who qualified in a round on a test set, for `humor-tasks annotate --qualified`.

    Where no item of the test set has an answer, as with forms, the column `qualified` is empty: read the answers, and
    write yes or no.
    """
    from humor_tasks.data.writing import check_output
    from humor_tasks.people.collecting import candidates, write_round
    from humor_tasks.people.items import choices_of, read_pairs
    from humor_tasks.people.vote_files import read_votes

    if threshold != threshold:
        raise BadInput("--threshold is nan; it must be a number from 0 to 1.")
    check_output(output, votes, pairs)
    test = read_pairs(pairs)
    found = candidates(test, read_votes(votes, [item.id for item in test], choices=choices_of(test)).votes)
    if not found:
        raise BadInput(f"{votes}: nobody has voted yet.")
    passed = write_round(output, found, threshold)
    told = f"{passed} of {len(found)} qualified" if found[0].asked else f"{len(found)} annotators, to decide by hand"
    click.echo(f"{output}: {told}.")
