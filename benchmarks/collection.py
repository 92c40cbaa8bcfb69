"""Judged collections: read from their files, and how a ranking is measured by them."""

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean
from typing import Any

DEPTH = 10
Judgments = dict[str, dict[str, float]]
"""The grades of documents by query; those without a grade above 0 are left out."""


@dataclass(frozen=True, slots=True)
class Document:
    """One entry of `corpus.jsonl`."""

    id: str
    title: str
    text: str

    def as_markdown(self) -> str:
        """Return it as a file: the title as its heading, unless the text begins with it."""
        title = " ".join(self.title.split())
        return f"# {title}\n\n{self.text}\n" if title and not self.text.startswith(title) else f"{self.text}\n"


@dataclass(frozen=True, slots=True)
class Query:
    """One entry of `queries.jsonl`."""

    id: str
    text: str


@dataclass(frozen=True, slots=True)
class Collection:
    """Documents, queries and what is known of which fits which."""

    name: str
    documents: Sequence[Document]
    queries: Sequence[Query]
    judgments: Judgments


def load_collection(folder: Path, queries_file: str, *, judged: bool) -> Collection:
    """Read a collection; with `judged`, only queries that have a judgment."""
    judgments = read_judgments(folder / "qrels.tsv") if (folder / "qrels.tsv").is_file() else {}
    named = folder / queries_file
    queries = [Query(row["_id"], row["text"]) for row in _lines(named if named.is_file() else folder / "queries.jsonl")]
    documents = [Document(row["_id"], row.get("title") or "", row["text"]) for row in _lines(folder / "corpus.jsonl")]
    kept = [query for query in queries if query.id in judgments] if judged else queries
    return Collection(folder.resolve().name, documents, kept, judgments)


def read_judgments(path: Path) -> Judgments:
    """Read `query, document, grade` or TREC's four columns, with a header or without."""
    judgments: Judgments = {}
    for line in path.read_text(encoding="utf-8").splitlines():
        fields = line.split("\t") if "\t" in line else line.split()
        grade = _number(fields[-1]) if len(fields) >= 3 else 0.0
        if grade > 0:
            judgments.setdefault(fields[0], {})[fields[-2]] = grade
    return judgments


def measures_of(found: Mapping[str, Sequence[str]], judgments: Judgments) -> tuple[float, float, float]:
    """Return the means of nDCG@10, Recall@10 and MRR@10 over the queries that were asked and are judged."""
    judged = [(documents[:DEPTH], judgments[query]) for query, documents in found.items() if query in judgments]
    if not judged:
        return 0.0, 0.0, 0.0
    return (
        fmean(ndcg(documents, grades) for documents, grades in judged),
        fmean(len(grades.keys() & set(documents)) / len(grades) for documents, grades in judged),
        fmean(_reciprocal_rank(documents, grades) for documents, grades in judged),
    )


def ndcg(documents: Sequence[str], grades: Mapping[str, float]) -> float:
    """Return nDCG@10 with linear gains (Järvelin and Kekäläinen, 2002; as `ndcg_cut` of trec_eval)."""
    best = sorted(grades.values(), reverse=True)[:DEPTH]
    return _discounted([grades.get(document, 0.0) for document in documents[:DEPTH]]) / _discounted(best)


def _discounted(gains: Sequence[float]) -> float:
    return sum(gain / math.log2(place + 2) for place, gain in enumerate(gains))


def _reciprocal_rank(documents: Sequence[str], grades: Mapping[str, float]) -> float:
    return next((1 / rank for rank, document in enumerate(documents, start=1) if document in grades), 0.0)


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        return 0.0


def _lines(path: Path) -> list[dict[str, Any]]:
    with path.open(encoding="utf-8") as file:
        return [json.loads(line) for line in file if line.strip()]
