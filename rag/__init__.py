"""Ask a list of paper abstracts; every sentence of an answer points to the sentence that says it."""

__version__ = "0.1.0"
