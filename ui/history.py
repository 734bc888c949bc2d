"""The list of a browser's conversations as HTML."""

from __future__ import annotations

from datetime import datetime

from ui.conversations import Summary
from ui.exports import FORMATS
from ui.render import Html, join, tag


def history_html(conversations: list[Summary], current: str, search: str = "") -> Html:
    """The list, the latest first; the open one is marked."""
    new = tag("button", "New conversation", type="button", class_="plain", data_action="new")
    if not conversations:
        return tag("div", new, tag("p", "Nothing found." if search else "Nothing asked yet.", class_="empty"))
    tools = _current_tools() if any(one.id == current for one in conversations) else None
    return tag(
        "div",
        tag("div", new, tools, class_="list-tools"),
        tag("ul", (_item(one, current) for one in conversations), class_="conversations"),
    )


def _current_tools() -> Html:
    """What can be done with the whole conversation that is open."""
    exports = (
        tag("button", label, type="button", class_="tool", data_action="export", data_turn=0, data_format=form)
        for label, form in FORMATS
    )
    menu = tag(
        "details", tag("summary", "Export all", class_="tool"), tag("div", exports, class_="menu"), class_="export"
    )
    clear = tag("button", "Clear", type="button", class_="tool", data_action="clear", data_confirm="Clear it for good?")
    return join(menu, clear)


def _item(one: Summary, current: str) -> Html:
    when = datetime.fromtimestamp(one.updated).strftime("%d %b %Y, %H:%M").lstrip("0")
    count = f"{one.turns} question{'' if one.turns == 1 else 's'}"
    return tag(
        "li",
        tag(
            "button",
            tag("span", one.name, class_="name", dir="auto"),
            tag("span", f"{when} · {count}", class_="dim"),
            type="button",
            class_="open",
            data_action="open",
            data_conversation=one.id,
            aria_current="true" if one.id == current else None,
        ),
        tag(
            "span",
            tag("button", "Rename", type="button", class_="tool", data_rename=one.id, data_name=one.name),
            tag(
                "button",
                "Delete",
                type="button",
                class_="tool",
                data_action="delete",
                data_confirm="Delete for good?",
                data_conversation=one.id,
            ),
            class_="item-tools",
        ),
        class_="current" if one.id == current else None,
    )
