from rag.answer import Answer
def export_turns(turns: list[Answer], form: str) -> dict[str, str]:
    return {"name": "answer.md", "type": "text/markdown", "text": "\n\n".join(a.text for a in turns)}
