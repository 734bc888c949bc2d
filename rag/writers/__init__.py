"""Papers and answers → text of a format; `rag.export` names the formats."""
