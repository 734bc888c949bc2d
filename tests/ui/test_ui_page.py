"""The page in a real browser, from the first word typed to the highlighted sentence."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from running import App, Start

from rag.papers import Paper

pytestmark = pytest.mark.browser
Open = Callable[..., Any]

QUESTION = "How do language models trade compression for meaning?"
DONE = "article.turn:not(.live) .status"


def ask(page: Any, question: str) -> None:
    """Type a question, send it with the keyboard, and wait for the end of its answer."""
    before = page.locator(DONE).count()
    page.fill("#question textarea", question)
    page.keyboard.press("Enter")
    page.wait_for_function(f"document.querySelectorAll('{DONE}').length > {before}")


def marked(page: Any) -> str:
    """The text that is highlighted in the evidence panel."""
    return "".join(page.locator(".panel mark.on").all_inner_texts())


def in_view(page: Any, selector: str) -> bool:
    script = """(selector) => {
        const node = document.querySelector(selector).getBoundingClientRect();
        const panel = document.querySelector(".panel").getBoundingClientRect();
        return node.top >= panel.top - 1 && node.bottom <= panel.bottom + 1 && node.bottom <= innerHeight;
    }"""
    return bool(page.evaluate(script, selector))


def test_a_citation_leads_to_the_quoted_span(app: App, open_page: Open) -> None:
    page = open_page(app.url)
    ask(page, QUESTION)
    answer = app.engine.ask(QUESTION)
    for citation in answer.citations:
        page.locator(f".cite[data-number='{citation.number}']").click()
        page.wait_for_function("document.querySelector('.panel mark.on')")
        page.wait_for_timeout(500)  # the scrolling
        assert marked(page) == citation.quote
        assert in_view(page, ".panel mark.on")
        assert page.locator(".panel .paper.on .number").inner_text() == str(citation.number)
    assert page.seen.errors == []


def test_pointing_at_a_number_shows_paper_and_quote(app: App, open_page: Open) -> None:
    page = open_page(app.url)
    ask(page, QUESTION)
    citation = app.engine.ask(QUESTION).citations[0]
    page.locator(".cite").first.hover()
    card = page.locator("#hovercard")
    card.wait_for()
    assert citation.quote in card.inner_text()
    assert app.engine.paper(citation.paper_id).title in card.inner_text()
    page.mouse.move(5, 5)
    card.wait_for(state="hidden")


def test_the_keyboard_is_enough(app: App, open_page: Open) -> None:
    page = open_page(app.url)
    page.wait_for_selector(".example")
    page.keyboard.press("/")
    page.keyboard.type(QUESTION)
    page.keyboard.press("Enter")
    page.wait_for_selector(DONE)
    page.locator(".cite").first.focus()
    page.keyboard.press("Enter")
    page.wait_for_selector(".panel mark.on")
    assert page.evaluate("document.activeElement.matches('.panel .paper')")
    page.keyboard.press("Escape")
    assert page.evaluate("document.activeElement.matches('.cite')")


def test_the_answer_streams(app: App, open_page: Open) -> None:
    page = open_page(app.url)
    page.fill("#question textarea", QUESTION + " slow")
    page.keyboard.press("Enter")
    page.wait_for_selector(".live .sentence .cite")
    first = page.locator(".live").inner_text()
    page.wait_for_function("(n) => document.querySelector('.live').innerText.length > n + 60", arg=len(first))
    assert page.locator(".panel .paper").count() > 0
    page.wait_for_selector(DONE)
    assert page.locator(".live").count() == 0


def test_stop_in_mid_answer_then_ask_again(app: App, open_page: Open) -> None:
    page = open_page(app.url)
    page.fill("#question textarea", QUESTION + " slow")
    page.keyboard.press("Enter")
    page.wait_for_selector(".live .sentence")
    page.click("#halt")
    page.wait_for_selector(DONE)
    assert "stopped" in page.locator(".status").inner_text()
    words = page.locator(".answer .words").all_inner_texts()
    assert all(text.rstrip().endswith((".", "!", "?")) for text in words)
    assert "[" not in "".join(words)
    ask(page, QUESTION)
    assert page.locator("article.turn").count() == 2
    assert "stopped" not in page.locator(".status").last.inner_text()
    assert page.locator("#send").is_visible()


def test_refusals_look_like_refusals(app: App, open_page: Open) -> None:
    page = open_page(app.url)
    ask(page, "What is the capital of Peru?")
    refusal = page.locator(".refusal")
    assert refusal.get_attribute("data-reason") == "not in these abstracts"
    assert "What to try" in refusal.inner_text()
    assert page.locator(".cite").count() == 0


def test_a_missing_model_can_be_done_without(app: App, open_page: Open) -> None:
    page = open_page(app.url)
    ask(page, QUESTION.replace("?", " with no model?"))
    assert page.locator(".refusal").get_attribute("data-reason") == "model unavailable"
    assert "ollama serve" in page.locator(".refusal").inner_text()
    page.click("[data-action=extractive]")
    page.wait_for_selector(".answer .cite")
    assert page.locator(".refusal").count() == 0


def test_unsupported_sentences_are_marked_and_explained(app: App, open_page: Open) -> None:
    page = open_page(app.url)
    ask(page, QUESTION + " unsupported")
    for kind in ("not-found", "partly", "contradicted"):
        line = page.locator(f".sentence.{kind} .words").evaluate("node => getComputedStyle(node).textDecorationStyle")
        assert line in ("dotted", "dashed", "wavy")
        assert page.locator(f".legend .{kind}").count() == 1
    page.locator(".partly .flag").hover()
    assert "on the Moon" in page.locator("#hovercard").inner_text()
    assert "3 of 5 sentences located in 3 papers" in page.locator(".status").inner_text()


def test_a_follow_up_shows_what_was_searched_for(app: App, open_page: Open) -> None:
    page = open_page(app.url)
    ask(page, QUESTION)
    assert page.locator(".standalone").count() == 0
    ask(page, "and what about humans?")
    assert "trade compression for meaning what about humans?" in page.locator(".standalone").inner_text()


def test_a_reload_and_a_restart_keep_the_conversation(start: Start, open_page: Open) -> None:
    app = start()
    page = open_page(app.url)
    ask(page, QUESTION)
    ask(page, "What is TNT?")
    page.reload()
    page.wait_for_selector(DONE)
    assert page.locator("h2.question").all_inner_texts() == [QUESTION, "What is TNT?"]
    app.blocks.close(verbose=False)
    again = start(settings=app.settings, port=int(app.url.rstrip("/").rpartition(":")[2]))
    page.goto(again.url)
    page.wait_for_selector(DONE)
    assert page.locator("h2.question").all_inner_texts() == [QUESTION, "What is TNT?"]
    assert page.locator(".cite").count() > 0


def test_two_browsers_and_two_tabs_do_not_mix(app: App, open_page: Open) -> None:
    ann, bob = open_page(app.url), open_page(app.url)
    other_tab = open_page(app.url, context=ann.context)
    ask(ann, QUESTION)
    ask(bob, "What is TNT?")
    ask(other_tab, "What is HiPO?")
    assert ann.locator("h2.question").all_inner_texts() == [QUESTION]
    assert bob.locator("h2.question").all_inner_texts() == ["What is TNT?"]
    assert other_tab.locator("h2.question").all_inner_texts() == ["What is HiPO?"]
    bob.click("[data-drawer=history]")
    assert bob.locator("#history .name").all_text_contents() == ["What is TNT?"]
    other_tab.click("[data-drawer=history]")
    assert other_tab.locator("#history .name").all_text_contents() == ["What is HiPO?", QUESTION]
    ann.locator(".cite").first.click()
    assert marked(ann) == app.engine.ask(QUESTION).citations[0].quote


def test_conversations_can_be_found_renamed_opened_and_deleted(app: App, open_page: Open) -> None:
    page = open_page(app.url)
    ask(page, QUESTION)
    page.click("#new")
    page.wait_for_selector(".welcome")
    ask(page, "What is TNT?")
    page.click("[data-drawer=history]")
    page.fill("#drawer-history textarea, #drawer-history input", "compression")
    page.wait_for_function("document.querySelectorAll('#history .name').length === 1")
    page.click("#history [data-rename]")
    page.fill("#history .rename", "About meaning")
    page.keyboard.press("Enter")
    page.wait_for_function("document.querySelector('#history').innerText.includes('About meaning')")
    page.locator("#history .open", has_text="About meaning").click()
    page.wait_for_function(f"document.querySelector('h2.question')?.innerText === {json.dumps(QUESTION)}")
    page.click("[data-drawer=history]")
    page.locator("#history li", has_text="About meaning").locator("[data-action=delete]").click()
    assert page.locator("#history .name").count() == 2  # asks first
    page.locator("#history li", has_text="About meaning").locator("[data-action=delete]").click()
    page.wait_for_selector(".welcome")
    assert page.locator("#history .name").all_text_contents() == ["What is TNT?"]


def test_a_whole_conversation_can_be_exported_and_cleared(app: App, open_page: Open) -> None:
    page = open_page(app.url)
    ask(page, QUESTION)
    ask(page, "What is TNT?")
    page.click("[data-drawer=history]")
    page.click("#history .export summary")
    with page.expect_download() as download:
        page.click("#history [data-format=markdown]")
    text = Path(download.value.path()).read_text(encoding="utf-8")
    assert QUESTION in text
    assert "What is TNT?" in text
    page.click("#history [data-action=clear]")
    page.click("#history [data-action=clear]")
    page.wait_for_selector(".welcome")
    assert page.locator("article.turn").count() == 0
    page.reload()
    page.wait_for_selector(".example")
    assert page.locator("#history .name").count() == 0


def test_edit_replaces_the_question_and_what_follows(app: App, open_page: Open) -> None:
    page = open_page(app.url)
    ask(page, QUESTION)
    ask(page, "What is TNT?")
    page.locator("[data-action=edit]").first.click()
    page.wait_for_selector(".editing")
    assert page.input_value("#question textarea") == QUESTION
    page.fill("#question textarea", "What is HiPO?")
    page.keyboard.press("Enter")
    page.wait_for_function("document.querySelectorAll('h2.question').length === 1 && !document.querySelector('.live')")
    assert page.locator("h2.question").all_inner_texts() == ["What is HiPO?"]


def test_retry_asks_the_same_again(app: App, open_page: Open) -> None:
    page = open_page(app.url)
    ask(page, QUESTION + " slow")
    page.click("[data-action=retry]")
    page.wait_for_selector(".live")
    page.wait_for_selector(DONE)
    assert page.locator("h2.question").all_inner_texts() == [QUESTION + " slow"]


def test_copy_export_and_thumbs(app: App, open_page: Open) -> None:
    page = open_page(app.url)
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    ask(page, QUESTION)
    page.click("[data-action=copy]")
    page.wait_for_selector("#notice:not([hidden])")
    copied = page.evaluate("navigator.clipboard.readText()")
    assert "[1]" in copied
    for form, beginning in (("markdown", f"## {QUESTION}"), ("bibtex", "@inproceedings{"), ("ris", "TY  - CPAPER")):
        page.click(".export summary")
        with page.expect_download() as download:
            page.click(f"[data-format={form}]")
        text = Path(download.value.path()).read_text(encoding="utf-8")
        assert text.startswith(beginning)
        assert download.value.suggested_filename.startswith("how-do-language-models")
    page.click("[data-rating=down]")
    page.fill(".reason textarea", "cites the <wrong> paper")
    page.click(".reason button")
    page.wait_for_selector("[data-rating=down][aria-pressed=true]")
    line = json.loads((app.settings.data / "feedback.jsonl").read_text(encoding="utf-8"))
    assert (line["rating"], line["reason"], line["question"]) == ("down", "cites the <wrong> paper", QUESTION)
    page.reload()
    page.wait_for_selector("[data-rating=down][aria-pressed=true]")


def test_a_link_asks_its_question_once(app: App, open_page: Open) -> None:
    page = open_page(app.url + "?q=What+is+TNT%3F")
    page.wait_for_selector(DONE)
    assert page.locator("h2.question").all_inner_texts() == ["What is TNT?"]
    assert "q=" not in page.url
    page.reload()
    page.wait_for_selector(DONE)
    page.wait_for_timeout(500)
    assert page.locator("h2.question").count() == 1


def test_examples_come_from_the_corpus(app: App, open_page: Open) -> None:
    page = open_page(app.url)
    page.wait_for_selector(".example")
    example = page.locator(".example").first.inner_text()
    page.locator(".example").first.click()
    page.wait_for_selector(DONE)
    assert page.locator("h2.question").all_inner_texts() == [example]
    assert page.locator(".cite").count() > 0


def test_settings_are_kept_and_used(app: App, open_page: Open) -> None:
    page = open_page(app.url)
    page.click("[data-drawer=settings]")
    number = page.locator("#drawer-settings input[type=number]")
    number.fill("2")
    number.press("Tab")
    page.keyboard.press("Escape")
    page.wait_for_timeout(600)
    page.reload()
    page.wait_for_selector("#question textarea")
    page.wait_for_function("document.querySelector('#drawer-settings input[type=number]').value === '2'")
    ask(page, QUESTION)
    assert page.locator(".panel .paper").count() == 2


def test_an_upload_with_a_bad_row(app: App, open_page: Open, tmp_path: Path) -> None:
    file = tmp_path / "bees <b>.csv"
    file.write_text("title,abstract\nBees,Bees dance in circles to tell the way.\nEmpty,\n", encoding="utf-8")
    page = open_page(app.url)
    page.get_by_role("tab", name="Library").click()
    page.set_input_files("#upload input[type=file]", str(file))
    page.wait_for_selector("#report .skipped")
    report = page.locator("#report").inner_text()
    assert "1 new" in report
    assert "1 row not used" in report
    assert re.search(r"bees b\.csv:3: ", report)
    page.wait_for_function("document.querySelector('#sources').innerText.includes('bees b.csv')")
    page.fill("#library-search textarea, #library-search input", "dancing circles")
    page.wait_for_function("document.querySelectorAll('.row-open').length === 1")
    page.click(".row-open")
    page.wait_for_selector("#paper .abstract")
    assert "Bees dance in circles" in page.locator("#paper").inner_text()
    remove = page.locator("#sources li", has_text="bees").locator("[data-action=remove]")
    remove.click()
    remove.click()
    page.wait_for_function("document.querySelector('#report').innerText.includes('1 paper removed')")
    assert "bees" not in page.locator("#sources").inner_text()
    assert list((app.settings.data / "uploads").iterdir()) == []


def test_the_library_pages_and_sorts(app: App, open_page: Open) -> None:
    page = open_page(app.url)
    page.get_by_role("tab", name="Library").click()
    page.click("[data-order=title]")
    page.wait_for_selector("th[aria-sort=ascending]")
    titles = page.locator(".row-title").all_inner_texts()
    assert titles == sorted(titles, key=str.lower)
    page.click("[data-order=title]")
    page.wait_for_selector("th[aria-sort=descending]")
    assert page.locator(".row-title").all_inner_texts() == titles[::-1]
    page.locator(".row-open").first.click()
    page.click("[data-action=about]")
    page.wait_for_function("document.querySelector('#question textarea').value.includes('What does')")
    assert page.locator("#question textarea").is_visible()


LONG = "x" * 10_000
EVIL = (
    "<script>window.hit = 1</script> <img src=x onerror='window.hit = 2'> ![x](http://evil.example/x.png) "
    "{{constructor}} ${window.hit = 3} [y](javascript:window.hit=4) <svg onload=window.hit=5> "
)


def test_hostile_text_does_nothing(start: Start, open_page: Open, tmp_path: Path) -> None:
    papers = [
        Paper(
            f"{EVIL} Evil bees dance. {LONG}", f"Evil {EVIL}", (EVIL,), 2024, EVIL, "javascript:window.hit=6", id="e1"
        ),
        Paper(f"Evil {LONG}", LONG, keywords=(EVIL,), id="e2"),
    ]
    page = open_page(start(papers).url)
    ask(page, f"Do evil bees dance {EVIL}?")
    assert "<script>window.hit = 1</script>" in page.locator("h2.question").inner_text()
    assert "<script>" in page.locator(".panel").inner_text()
    page.locator(".cite").first.hover()
    page.locator(".cite").first.click()
    ask(page, f"evil {LONG}")
    page.click("[data-drawer=history]")
    page.keyboard.press("Escape")
    page.get_by_role("tab", name="Library").click()
    file = tmp_path / ("<img src=x onerror=hit()>" + "y" * 150 + ".csv")
    file.write_text(f"title,abstract\n{EVIL.replace(',', ' ')},{EVIL.replace(',', ' ')}\n,\n", encoding="utf-8")
    page.set_input_files("#upload input[type=file]", str(file))
    page.wait_for_selector("#report .report")
    page.locator(".row-open").first.click()
    page.wait_for_selector("#paper .abstract")
    assert page.evaluate("window.hit") is None
    assert (
        page.locator("#thread img, .panel img, #library-row img, #thread script, .panel script, .panel svg").count()
        == 0
    )
    assert page.seen.hosts <= {start_host(page)}
    for tab in ("Library", "Ask"):
        page.get_by_role("tab", name=tab).click()
        page.wait_for_timeout(200)
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth + 1")


def start_host(page: Any) -> str:
    return str(page.url.split("/")[2])


def test_no_other_host_is_asked(app: App, open_page: Open) -> None:
    page = open_page(app.url)
    page.wait_for_selector(".example")
    ask(page, QUESTION)
    for tab in ("Library", "Evaluations", "Ask"):
        page.get_by_role("tab", name=tab).click()
        page.wait_for_timeout(400)
    page.click("[data-drawer=settings]")
    assert page.seen.hosts - {""} == {start_host(page)}
    assert page.seen.errors == []


def test_the_page_is_there_in_under_three_seconds(app: App, open_page: Open) -> None:
    seconds = []
    for _ in range(4):  # the machine may be busy with other things
        started = time.perf_counter()
        page = open_page(app.url)
        page.wait_for_selector(".example")
        page.fill("#question textarea", "x")
        seconds.append(time.perf_counter() - started)
    assert min(seconds) < 3, seconds


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
@pytest.mark.parametrize("width", [390, 1280])
def test_both_widths_and_themes_are_usable(app: App, open_page: Open, width: int, dark: bool) -> None:
    page = open_page(app.url, width=width, dark=dark)
    ask(page, QUESTION + " unsupported")
    page.locator(".cite").first.click()
    page.wait_for_timeout(500)
    assert page.locator(".panel mark.on").first.is_visible()
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    background, ink = page.evaluate(
        "[getComputedStyle(document.body).backgroundColor, getComputedStyle(document.querySelector('.answer')).color]"
    )
    assert (luminance(ink) > luminance(background)) is dark
    assert contrast(ink, background) > 7
    for selector in (".status", ".cite:not(.on)", ".partly > .flag", ".contradicted > .flag", ".tools .tool"):
        colour = page.locator(selector).first.evaluate("node => getComputedStyle(node).color")
        assert contrast(colour, background) >= 4.0, selector
    if width == 390:
        page.click(".close-sheet")
        page.wait_for_timeout(400)
    page.click("#theme")
    assert page.evaluate("document.body.classList.contains('dark')") is not dark
    page.reload()
    page.wait_for_selector(DONE)
    assert page.evaluate("document.body.classList.contains('dark')") is not dark


def luminance(colour: str) -> float:
    """Relative luminance of WCAG 2.2 of "rgb(…)"."""
    parts = [float(part) / 255 for part in re.findall(r"[\d.]+", colour)[:3]]
    red, green, blue = (part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one: str, other: str) -> float:
    high, low = sorted((luminance(one), luminance(other)), reverse=True)
    return (high + 0.05) / (low + 0.05)
