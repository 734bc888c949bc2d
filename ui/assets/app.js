/* What the page does by itself: hover cards, the evidence panel, drawers, theme, keyboard, copy and download.
   It makes no HTML from strings: text it shows was rendered (and escaped) by ui/render.py and is moved or cloned. */
(() => {
  "use strict";
  const root = document.documentElement;
  const find = (selector, within = document) => within.querySelector(selector);
  const all = (selector, within = document) => [...within.querySelectorAll(selector)];
  const make = (name, properties = {}, ...children) => {
    const node = Object.assign(document.createElement(name), properties);
    node.append(...children);
    return node;
  };

  /* -- who this browser and this tab are -------------------------------------------------------------- */
  const store = {
    get: (area, key) => { try { return area.getItem("askabstracts-" + key) || ""; } catch { return ""; } },
    set: (area, key, value) => { try { area.setItem("askabstracts-" + key, value); } catch { /* private mode */ } },
  };
  const random = () => [...crypto.getRandomValues(new Uint8Array(18))].map((n) => n.toString(36).padStart(2, "0")).join("");
  let browser = store.get(localStorage, "browser");
  if (!/^[a-z0-9]{36}$/.test(browser)) store.set(localStorage, "browser", (browser = random()));
  const conversation = () => find("#thread [data-conversation]")?.dataset.conversation || "";

  function tabState() {
    const address = new URL(location.href);
    const question = address.searchParams.get("q") || "";
    if (question) {
      address.searchParams.delete("q");
      history.replaceState(null, "", address);
    }
    return JSON.stringify({ browser, question, conversation: question ? "" : store.get(sessionStorage, "conversation") });
  }

  /* -- theme ------------------------------------------------------------------------------------------- */
  /* Gradio sets its own idea of the theme while it starts; ours comes last. */
  function theme(name) {
    document.body.classList.toggle("dark", name === "dark");
    root.style.colorScheme = name;
    const button = find("#theme");
    if (button) button.textContent = name === "dark" ? "Light" : "Dark";
  }
  const preferred = () =>
    store.get(localStorage, "theme") || (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light");
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => theme(preferred()));
  function keepTheme() {
    const wanted = preferred();
    if (document.body.classList.contains("dark") !== (wanted === "dark")) theme(wanted);
  }

  /* -- drawers and the sheet --------------------------------------------------------------------------- */
  let opener = null;
  function drawer(name) {
    const open = name && root.dataset.open !== name ? name : "";
    if (open) opener = document.activeElement;
    if (open) root.dataset.open = open;
    else delete root.dataset.open;
    for (const button of all("[data-drawer]")) button.setAttribute("aria-expanded", String(button.dataset.drawer === open));
    if (open) setTimeout(() => find(`#drawer-${open} button, #drawer-${open} input, #drawer-${open} textarea`)?.focus(), 60);
    else if (opener) opener.focus();
  }
  const sheet = (open) => { open ? (root.dataset.sheet = "open") : delete root.dataset.sheet; };

  /* -- the evidence panel ------------------------------------------------------------------------------ */
  let panel = null, shown = null, active = null, lastCite = null;
  const turnOf = (node) => node.closest("article.turn");

  function show(turn) {
    const data = turn && find(".evidence-data", turn);
    if (!panel || !data) return;
    if (shown === turn.dataset.turn && panel._from === data.innerHTML) return;
    const same = shown === turn.dataset.turn;
    const open = same && find("details.uncited", panel)?.open;
    shown = turn.dataset.turn;
    panel.replaceChildren(...[...data.childNodes].map((node) => node.cloneNode(true)));
    panel._from = data.innerHTML;
    if (open) find("details.uncited", panel).open = true;
    find(".panel-of").textContent = all("article.turn").length > 1 ? `for question ${shown}` : "";
    for (const other of all("article.turn")) other.classList.toggle("shown", other === turn);
    if (active && same) highlight(active, false);
    else active = null;
    if (!same) panel.scrollTop = 0;
  }

  function sync() {
    const turns = all("article.turn");
    if (!panel) return;
    if (!turns.length) {
      if (shown !== null) panel.replaceChildren(make("p", { className: "empty", textContent: "The papers behind an answer appear here." }));
      shown = active = null;
      return;
    }
    const live = find("article.turn.live");
    const kept = turns.find((turn) => turn.dataset.turn === shown);
    const turn = live || (kept && turns.length === sync.count ? kept : turns.at(-1));
    sync.count = turns.length;
    const data = find(".evidence-data", turn);
    if (data && (shown !== turn.dataset.turn || panel._from !== data.innerHTML)) show(turn);
    store.set(sessionStorage, "conversation", conversation());
  }

  function highlight(names, scroll = true) {
    for (const mark of all("mark.on", panel)) mark.classList.remove("on");
    for (const card of all(".paper.on", panel)) card.classList.remove("on");
    const marks = all("mark[data-marks]", panel).filter((mark) => mark.dataset.marks.split(" ").some((name) => names.includes(name)));
    for (const mark of marks) mark.classList.add("on");
    const card = marks[0]?.closest(".paper");
    card?.classList.add("on");
    if (scroll && marks[0]) bring(marks[0], card);
    return card;
  }

  function bring(node, card) {
    const smooth = matchMedia("(prefers-reduced-motion: reduce)").matches ? "auto" : "smooth";
    const box = panel.getBoundingClientRect(), at = node.getBoundingClientRect(), top = card.getBoundingClientRect();
    const far = at.bottom - top.top > panel.clientHeight - 40;
    panel.scrollTo({ top: panel.scrollTop + (far ? at.top - 80 : top.top - 8) - box.top, behavior: smooth });
  }

  function cite(link, byKeyboard) {
    show(turnOf(link));
    active = link.dataset.marks.split(" ");
    lastCite = link;
    hideCard();
    for (const other of all(".cite.on")) other.classList.remove("on");
    link.classList.add("on");
    sheet(true);
    const card = highlight(active);
    if (byKeyboard) card?.focus({ preventScroll: true });
  }

  function near(link) {
    show(turnOf(link));
    sheet(true);
    const card = find(`.paper[data-rank="${Number(link.dataset.rank)}"]`, panel);
    if (!card) return;
    const folded = card.closest("details");
    if (folded) folded.open = true;
    for (const other of all(".paper.on", panel)) other.classList.remove("on");
    card.classList.add("on");
    bring(card, card);
    lastCite = link;
  }

  /* -- hover cards ------------------------------------------------------------------------------------- */
  const card = make("div", { id: "hovercard", role: "tooltip", hidden: true });
  let timer = 0;
  function showCard(link) {
    const from = find(".card", link);
    if (!from) return;
    card.replaceChildren(...[...from.childNodes].map((node) => node.cloneNode(true)));
    card.hidden = false;
    const at = link.getBoundingClientRect(), width = card.offsetWidth, height = card.offsetHeight;
    const left = Math.max(8, Math.min(at.left - 24, innerWidth - width - 8));
    const above = at.top > height + 12;
    card.style.left = `${left}px`;
    card.style.top = `${above ? at.top - height - 8 : at.bottom + 8}px`;
  }
  function hideCard() { clearTimeout(timer); card.hidden = true; }

  /* -- copy, download, notices ------------------------------------------------------------------------- */
  const notice = make("div", { id: "notice", role: "status", hidden: true });
  function tell(text) {
    notice.textContent = text;
    notice.hidden = false;
    clearTimeout(tell.timer);
    tell.timer = setTimeout(() => (notice.hidden = true), 2600);
  }
  async function copy(text) {
    try { await navigator.clipboard.writeText(text); }
    catch {
      const box = make("textarea", { value: text });
      document.body.append(box);
      box.select();
      document.execCommand("copy");
      box.remove();
    }
    tell("Copied");
  }
  function download({ name, type, text }) {
    const address = URL.createObjectURL(new Blob([text], { type: `${type};charset=utf-8` }));
    const link = make("a", { href: address, download: name });
    document.body.append(link);
    link.click();
    link.remove();
    setTimeout(() => URL.revokeObjectURL(address), 10000);
  }

  function rate(button, server) {
    const tools = button.closest(".tools");
    find(".reason", tools.parentNode)?.remove();
    const box = make("textarea", { rows: 2, maxLength: 2000, placeholder: "Why? (optional)" });
    box.setAttribute("aria-label", "Reason");
    const form = make("form", { className: "reason" }, box, make("button", { type: "submit", className: "plain", textContent: "Send" }));
    form.addEventListener("submit", async (event) => {
      event.preventDefault();
      const said = await server.rate({
        browser, conversation: conversation(), turn: button.dataset.turn, rating: button.dataset.rating, reason: box.value,
      });
      for (const other of all("[data-rating]", tools)) other.setAttribute("aria-pressed", String(other === button));
      form.remove();
      tell(said);
    });
    tools.after(form);
    box.focus();
  }

  /* -- what a click on a button within rendered HTML means ------------------------------------------------ */
  let server = {};
  function connect(element, trigger, functions, event) {
    if (functions && functions.export) server = functions;
    element.addEventListener("click", async (click) => {
      const button = click.target.closest("[data-action]");
      if (!button || !element.contains(button)) return;
      const { action } = button.dataset;
      if (button.dataset.confirm && !button.classList.contains("sure")) {
        const label = button.textContent;
        button.classList.add("sure");
        button.textContent = button.dataset.confirm;
        setTimeout(() => { button.classList.remove("sure"); button.textContent = label; }, 3000);
        return;
      }
      if (action === "sources") { show(turnOf(button)); return sheet(true); }
      if (action === "copy") return copy(button.dataset.copy);
      if (action === "rate") return rate(button, server);
      if (action === "export") {
        button.closest("details").open = false;
        return download(await server.export({
          browser, conversation: conversation(), turn: button.dataset.turn, format: button.dataset.format,
        }));
      }
      if (["open", "new", "clear"].includes(action)) drawer("");
      trigger(event, { ...button.dataset });
      if (["paper", "run", "compare"].includes(action) && innerWidth <= 860)
        setTimeout(() => find(action === "paper" ? "#paper" : "#run")?.scrollIntoView({ behavior: "smooth" }), 500);
      if (["edit", "new", "open"].includes(action)) setTimeout(() => find("#question textarea")?.focus(), 250);
    });
    element.addEventListener("click", (click) => {
      const button = click.target.closest("[data-rename]");
      if (!button) return;
      const item = button.closest("li");
      const box = make("input", { value: button.dataset.name, maxLength: 80, className: "rename" });
      box.setAttribute("aria-label", "New name");
      let finished = false; // removing the box takes the focus from it, which ends it too
      const done = (keep) => {
        if (finished) return;
        finished = true;
        box.remove();
        if (keep) trigger(event, { action: "rename", conversation: button.dataset.rename, name: box.value });
      };
      box.addEventListener("keydown", (key) => {
        if (key.key === "Enter") done(true);
        if (key.key === "Escape") { key.stopPropagation(); done(false); }
      });
      box.addEventListener("blur", () => done(false));
      item.prepend(box);
      box.select();
    });
    element.addEventListener("keydown", (key) => {
      const field = key.target.closest("[data-submit]");
      if (field && key.key === "Enter") {
        key.preventDefault();
        trigger(event, { ...field.dataset, action: field.dataset.submit, value: field.value });
      }
    });
    watch(element);
  }

  const watcher = new MutationObserver(() => {
    if (watcher.due) return;
    watcher.due = true;
    requestAnimationFrame(() => { watcher.due = false; sync(); follow(); });
  });
  const watch = (element) => watcher.observe(element, { childList: true, subtree: true, characterData: true });

  /* Keep the end of a growing answer in view, unless the reader has scrolled away from it. */
  const scroller = () => find("#conversation");
  let following = true;
  function follow() {
    const box = scroller();
    const turn = find("article.turn.live") || all("article.turn").at(-1);
    if (!box || !turn) return;
    const number = Number(turn.dataset.turn);
    if (number !== follow.number) following = true;
    const began = turn.classList.contains("live") || follow.live;
    follow.live = turn.classList.contains("live");
    follow.number = number;
    if (following && began) box.scrollTop += turn.getBoundingClientRect().top - box.getBoundingClientRect().top;
  }

  /* -- page-wide events --------------------------------------------------------------------------------- */
  document.addEventListener("click", (click) => {
    const link = click.target.closest("a.cite, a.near");
    if (link) {
      click.preventDefault();
      if (panel && !panel.contains(link)) link.matches(".cite") ? cite(link, click.detail === 0) : near(link);
      return;
    }
    const button = click.target.closest("[data-drawer], [data-close], #theme, #new");
    if (!button) {
      for (const menu of all("details.export[open]")) if (!menu.contains(click.target)) menu.open = false;
      if (root.dataset.open && click.isTrusted && !click.target.closest(".drawer")  && !click.target.closest("[role=listbox], .options")) drawer("");
      return;
    }
    if (button.id === "theme") {
      const name = document.body.classList.contains("dark") ? "light" : "dark";
      store.set(localStorage, "theme", name);
      theme(name);
    } else if (button.id === "new") find("#history [data-action=new]")?.click();
    else if (button.dataset.drawer) drawer(button.dataset.drawer);
    else if (button.dataset.close === "sheet") { sheet(false); lastCite?.focus(); }
    else drawer("");
  });
  document.addEventListener("keydown", (key) => {
    const link = key.target.closest?.("a.cite, a.near");
    if (link && key.key === " ") { key.preventDefault(); link.click(); }
    const typing = key.target.closest?.("input, textarea, select, [contenteditable]");
    if (key.key === "/" && !typing && !key.ctrlKey && !key.metaKey) {
      const box = find("#question textarea");
      if (box) { key.preventDefault(); box.focus(); }
    }
    if (key.key === "Escape") {
      hideCard();
      if (root.dataset.open) drawer("");
      else if (root.dataset.sheet || panel?.contains(document.activeElement)) { sheet(false); lastCite?.focus(); }
    }
  });
  document.addEventListener("pointerover", (over) => {
    const link = over.pointerType !== "touch" && over.target.closest?.("a.cite, .flag");
    if (link) { clearTimeout(timer); showCard(link); }
    else if (!over.target.closest?.("#hovercard")) { clearTimeout(timer); timer = setTimeout(hideCard, 120); }
  });
  document.addEventListener("focusin", (focus) => {
    const link = focus.target.closest?.("a.cite, .flag");
    if (link && link.matches(":focus-visible")) showCard(link);
    else hideCard();
  });
  document.addEventListener("scroll", hideCard, true);
  document.addEventListener("wheel", () => {
    const box = scroller();
    if (box) setTimeout(() => (following = box.scrollHeight - box.scrollTop - box.clientHeight < 80), 50);
  }, { passive: true });

  /* -- queue ------------------------------------------------------------------------------------------- */
  /* A question is in its box until its turn comes: then the server empties it. */
  let watching;
  function queued() {
    const field = find("#question textarea");
    const messages = all(".toast-body").length;
    const note = find("#queued") || make("p", { id: "queued", className: "waiting", role: "status" });
    note.textContent = "Others are being answered; your question waits in line …";
    note.hidden = true;
    find("#composer").prepend(note);
    clearInterval(watching);
    watching = setInterval(() => {
      const over = !field.value || find("article.turn.live") || all(".toast-body").length > messages;
      note.hidden = Boolean(over);
      if (over) clearInterval(watching);
    }, 500);
  }

  let loaded;
  const ready = new Promise((resolve) => (loaded = resolve));
  window.askabstracts = {
    ready, loaded, connect, queued, tabState, tell,
    goto(name) {
      const place = { ask: 0, library: 1, evaluations: 2 }[name];
      all("#tabs [role=tablist] button[role=tab]")[place]?.click();
      if (name === "ask") setTimeout(() => find("#question textarea")?.focus(), 150);
    },
    panel(element) {
      panel = find(".panel", element);
      watcher.due = true;
      requestAnimationFrame(() => { watcher.due = false; sync(); });
    },
  };
  document.addEventListener("DOMContentLoaded", () => {
    theme(preferred());
    new MutationObserver(keepTheme).observe(document.body, { attributes: true, attributeFilter: ["class"] });
    document.body.append(card, notice);
  });
})();
