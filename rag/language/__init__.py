"""The parts that `rag.markup`, `rag.text` and `rag.quantities` are made of; import those, not these."""
