// Keys press the page's own buttons; a new item is scrolled to, and its heading gets the focus.
(() => {
  const byId = (id) => document.getElementById(id);
  const buttonOf = (key) => {
    if (key === "u") return byId("undo");
    if (key === "t" && byId("tie")) return byId("tie");
    if (key === "ArrowLeft" || key === "ArrowRight") {
      const two = byId("vote-1") && !byId("vote-2");
      return two ? byId(key === "ArrowLeft" ? "vote-0" : "vote-1") : null;
    }
    if (/^[1-9]$/.test(key)) return byId(`vote-${Number(key) - 1}`);
    return /^[a-z]$/.test(key) ? byId(`vote-${key.charCodeAt(0) - 97}`) : null;
  };
  document.addEventListener("keydown", (event) => {
    if (event.repeat || event.ctrlKey || event.altKey || event.metaKey) return;
    if (event.target.closest("input, textarea, select, [contenteditable]")) return;
    const button = buttonOf(event.key.length === 1 ? event.key.toLowerCase() : event.key);
    if (!button) return;
    event.preventDefault();
    button.click();
  });
  let last = null;
  const settle = () => {
    for (const [id, how] of [["progress", "polite"], ["note", "assertive"]])
      if (byId(id) && byId(id).ariaLive !== how) byId(id).ariaLive = how;
    const heading = document.querySelector("#item h1");
    if (!heading || heading === last) return;
    last = heading;
    window.scrollTo(0, 0);
    heading.focus({ preventScroll: true });
  };
  new MutationObserver(settle).observe(document.documentElement, { childList: true, subtree: true });
})();
