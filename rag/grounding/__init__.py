"""Checking what an answer says against the abstracts it is drawn from; nothing a model claims is taken on trust.

grounding = Grounder(embedder.encode).open(papers, question)
for text, lead in stream.feed(delta):
    checked = grounding.check(text, cited)
"""

from rag.grounding.grounder import Grounder, Grounding, PairScore, score_pair
from rag.grounding.stream import Piece, SentenceStream
from rag.grounding.verdicts import Checked, Support

__all__ = ["Checked", "Grounder", "Grounding", "PairScore", "Piece", "SentenceStream", "Support", "score_pair"]
