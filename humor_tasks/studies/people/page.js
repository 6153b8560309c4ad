// Keys press the item's own buttons, and these the hidden one that sends the choice. A new item is scrolled to, and its
// heading gets the focus. The tab keeps annotator, item and reason, because Gradio reloads the page after a restart.
(() => {
  const GUARD = 500; // milliseconds without a choice after a new item or the last choice
  const byId = (id) => document.getElementById(id);
  const read = (storage, name) => {
    try { return window[storage].getItem(name); } catch { return null; } // a browser may forbid storage
  };
  const write = (storage, name, text) => {
    try { window[storage].setItem(name, text); } catch { /* nothing is remembered */ }
  };
  const open = () => JSON.parse(read("sessionStorage", "votes-open") ?? "{}");
  const keep = (change) => write("sessionStorage", "votes-open", JSON.stringify({ ...open(), ...change }));
  window.openVote = () => ["rater", "key", "reason"].map((name) => open()[name] ?? "");

  let since = -Infinity;
  const early = (event) => event.timeStamp < since + GUARD;
  const keysAreOn = () => byId("keys-on")?.checkVisibility() && byId("keys-on").checked;
  const buttonOf = (key) => {
    if (key === "u") return byId("undo");
    if (key === "t" && byId("vote-tie")) return byId("vote-tie");
    if (key === "ArrowLeft" || key === "ArrowRight") {
      const two = byId("vote-1") && !byId("vote-2");
      return two ? byId(key === "ArrowLeft" ? "vote-0" : "vote-1") : null;
    }
    if (/^[0-9]$/.test(key)) return document.querySelector(`#votes [data-key="${key}"]`);
    return /^[a-z]$/.test(key) ? byId(`vote-${key.charCodeAt(0) - 97}`) : null;
  };
  document.addEventListener("keydown", (event) => {
    if (event.repeat || event.ctrlKey || event.altKey || event.metaKey) return;
    if (event.key === "Escape" && event.target.closest("#reason")) event.target.blur();
    if (event.target.closest("input:not([type=checkbox]), textarea, select, [contenteditable]")) return;
    const button = keysAreOn() && buttonOf(event.key.length === 1 ? event.key.toLowerCase() : event.key);
    if (!button) return;
    event.preventDefault();
    if (!early(event)) button.click();
  });
  // On the window and in the capture phase: before Gradio's own listeners.
  window.addEventListener("click", (event) => {
    const button = event.target.closest("#votes button, #undo, #leave");
    if (!button) return;
    if (button.id === "leave") {
      write("sessionStorage", "votes-open", "{}");
      window.location.reload();
    } else if (early(event)) {
      event.preventDefault();
      event.stopImmediatePropagation();
    } else {
      const form = button.id === "vote-form" && button.closest("form");
      if (form && !form.reportValidity()) return;
      since = event.timeStamp;
      window.chosen = form ? JSON.stringify(texts(form)) : button.id.replace("vote-", "");
      if (button.id !== "undo") byId("send").click();
    }
  }, true);
  // A form's texts are kept like a reason, and given back to the same item.
  const texts = (form) => Object.fromEntries(new FormData(form));
  const restore = (form) => {
    form.reset(); // of what was written for the item before
    for (const input of form.elements) {
      const text = open().texts?.[input.name];
      if (input.type === "radio") input.checked = text === undefined ? input.checked : input.value === text;
      else if (text !== undefined) input.value = text;
    }
  };
  document.addEventListener("submit", (event) => {
    if (!event.target.closest("#votes")) return;
    event.preventDefault(); // Enter in a field presses the button
    byId("vote-form").click();
  });
  document.addEventListener("input", (event) => {
    const form = event.target.closest("form#votes");
    if (form) keep({ texts: texts(form) });
    if (event.target.closest("#reason")) keep({ reason: event.target.value });
  });
  document.addEventListener("change", (event) => {
    if (event.target.id === "keys-on") write("localStorage", "votes-keys", event.target.checked ? "on" : "off");
  });

  let last = null;
  let returned = false;
  const settle = () => {
    for (const [id, how] of [["progress", "polite"], ["note", "assertive"]])
      if (byId(id) && byId(id).ariaLive !== how) byId(id).ariaLive = how;
    const keys = byId("keys-on");
    if (keys && !keys.dataset.remembered) {
      keys.dataset.remembered = "yes";
      keys.checked = read("localStorage", "votes-keys") !== "off";
    }
    if (byId("return") && !returned) {
      returned = true;
      if (open().rater) byId("return").click();
    }
    const heading = byId("question");
    const { rater, key } = heading?.dataset ?? {};
    if (!heading || last === `${rater} ${key}`) return; // Gradio may use the element again for another item
    last = `${rater} ${key}`;
    since = performance.now();
    const same = key === open().key;
    keep({ rater, key, reason: same ? open().reason : "", texts: same ? open().texts : {} });
    const form = document.querySelector("form#votes");
    if (form) restore(form);
    window.scrollTo(0, 0);
    heading.focus({ preventScroll: true });
  };
  const watched = { childList: true, subtree: true, attributeFilter: ["data-rater", "data-key"] };
  new MutationObserver(settle).observe(document.documentElement, watched);
  settle();
})();
