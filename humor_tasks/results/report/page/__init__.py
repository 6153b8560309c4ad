"""The report's page: one HTML file that works offline.

| module | holds |
|---|---|
| `writing` | `page`: the page as one file; `page_notes`: what it lacks for want of an extra |
| `sections` | scorecard, runs with tokens and cost, left out, how it was made |
| `gallery`, `items`, `pictures` | the items with every system's answer, and their pictures |
| `names`, `texts`, `embedding` | names of results; texts made visible; data and scripts inside HTML |

The page itself is page.html, page.css, gallery.html, figures.js and gallery.js.
"""

from humor_tasks.results.report.page.writing import page, page_notes

__all__ = ["page", "page_notes"]
