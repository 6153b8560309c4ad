// The gallery: filters, sorts and searches an index of all items, shows one page of them, and unpacks replies when they
// are asked for. Texts of runs enter the page through textContent alone.

const PER_PAGE = 20;
const byId = (id) => document.getElementById(id);

async function unpacked(id) {
  const bytes = Uint8Array.from(atob(byId(id).textContent), (character) => character.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return JSON.parse(await new Response(stream).text());
}

/** An element with a class and children; strings become text. */
function element(name, className, ...children) {
  const made = document.createElement(name);
  if (className) made.className = className;
  made.append(...children);
  return made;
}

/** A text of a run, whose direction does not spread to its surroundings. */
function isolated(text) {
  const made = element("bdi", "", text);
  made.dir = "auto";
  return made;
}

const { items, systems, benchmarks, perBlock } = await unpacked("items");
const sizes = JSON.parse(byId("pictures").textContent);
items.forEach((item, number) => { item.number = number; });
let found = items;
let page = 0;

// ---- which items, in which order --------------------------------------------------------------

function searched(item) {
  item.text ??= [item.id, item.cluster, item.target ?? "", ...item.groups, ...item.points,
    ...item.choices.map(([, text]) => text), ...item.fields.map(([, text]) => text),
    ...item.answers.flatMap(([, answers]) => answers.map((answer) => answer ?? ""))].join("\n").toLowerCase();
  return item.text;
}

const shortened = (value) => (value === null ? "–" : String(Number(value.toFixed(2))));
const isRight = ([, , value]) => value === 1;
const hasAnswer = ([, , , status]) => !status;
const OUTCOMES = {
  "": () => true,
  right: (answers) => answers.every(isRight),
  wrong: (answers) => answers.every(([, , value]) => value === 0),
  split: (answers) => answers.some(isRight) && !answers.every(isRight),
  unread: (answers) => !answers.every(hasAnswer),
};
const text = (a, b) => a.localeCompare(b, undefined, { numeric: true });
const ORDERS = {
  "": (a, b) => a.number - b.number,
  disagreement: (a, b) => b.disagreement - a.disagreement || b.difficulty - a.difficulty,
  hardest: (a, b) => b.difficulty - a.difficulty,
  easiest: (a, b) => a.difficulty - b.difficulty,
  category: (a, b) => text(a.groups.join(), b.groups.join()) || text(a.cluster, b.cluster),
};

function choose() {
  const value = (id) => byId(id).value;
  const words = value("search").toLowerCase().split(/\s+/).filter(Boolean);
  const benchmark = value("benchmark"), category = value("category"), system = value("system");
  const outcome = OUTCOMES[value("outcome")];
  found = items.filter((item) => {
    if (benchmark !== "" && item.benchmark !== Number(benchmark)) return false;
    if (category !== "" && !item.groups.includes(category)) return false;
    const answers = system === "" ? item.answers : item.answers.filter(([number]) => number === Number(system));
    return answers.length > 0 && outcome(answers) && words.every((word) => searched(item).includes(word));
  }).sort((a, b) => a.benchmark - b.benchmark || ORDERS[value("order")](a, b));
  page = 0;
  show();
}

/** Fill a choice with the values that the chosen benchmark has. */
function offer(select, all, values) {
  const before = select.value;
  const option = (value, label) => { const made = element("option", "", label); made.value = value; return made; };
  select.replaceChildren(option("", all), ...values.map(([value, label]) => option(value, label)));
  select.value = values.some(([value]) => String(value) === before) ? before : "";
  select.closest("label").hidden = values.length < 2;
}

function offerChoices() {
  const benchmark = byId("benchmark").value;
  const held = items.filter((item) => benchmark === "" || item.benchmark === Number(benchmark));
  const groups = [...new Set(held.flatMap((item) => item.groups))].sort(text);
  const answering = [...new Set(held.flatMap((item) => item.answers.map(([number]) => number)))].sort((a, b) => a - b);
  offer(byId("category"), "all", groups.map((group) => [group, group]));
  offer(byId("system"), "all", answering.map((number) => [number, systems[number].name]));
}

// ---- one item ---------------------------------------------------------------------------------

function verdict(benchmark, [, , value, status]) {
  const { metric, share, lower } = benchmarks[benchmark];
  if (share && !lower && value !== null) {
    if (value === 1) return element("span", "verdict right", "right");
    if (value === 0) return element("span", "verdict wrong", status || "wrong");
    return element("span", "verdict", `${Math.round(100 * value)} %`);
  }
  if (value === null) return element("span", "verdict", status || "no score");
  const made = element("span", "verdict", String(Number(value.toPrecision(3))));
  made.title = metric;
  return made;
}

function pictures(item) {
  const shown = item.pictures.map((number, i) => {
    const image = element("img");
    [image.width, image.height] = sizes[number];
    image.alt = item.pictures.length > 1 ? `frame ${i + 1}` : "the picture of this item";
    image.src = `data:image/webp;base64,${byId(`picture-${number}`).textContent}`;
    return image;
  });
  if (item.missing) shown.push(element("p", "quiet", "Its picture is missing."));
  return shown.length ? element("div", "pictures", ...shown) : "";
}

function choices(item) {
  const chosen = (label) => item.answers.filter(([, answers]) => answers.includes(label)).length;
  return element("ol", "", ...item.choices.map(([label, words]) => {
    const line = element("li", label === item.target ? "target" : "", element("span", "", label), isolated(words));
    const number = chosen(label);
    const told = [label === item.target ? "the answer" : "", number ? `chosen by ${number}` : ""].filter(Boolean).join(", ");
    line.append(element("span", "chosen", told));
    return line;
  }));
}

function facts(item) {
  const made = element("dl");
  const add = (name, words) => made.append(element("dt", "", name), element("dd", "", isolated(words)));
  item.fields.forEach(([name, words]) => add(name, words));
  item.points.forEach((words) => add("point", words));
  if (item.target !== null && !item.choices.length) add("reference", item.target);
  return made;
}

function replies(item, number, held) {
  const { files, viewer } = systems[number];
  const made = element("div", "reply");
  for (const { epoch, text: reply, reasons, stop } of held ?? []) {
    const several = held.length > 1 ? `, epoch ${epoch}` : "";
    made.append(element("h4", "", `Reply${several}${stop ? ` (${stop})` : ""}`));
    made.append(element("pre", "", reply === undefined ? "The run has no reply in text." : isolated(reply)));
    if (reasons) made.append(element("h4", "", "Judges"), element("pre", "", isolated(reasons)));
  }
  if (!held?.length) made.append(element("p", "", "The replies are not on this page."));
  made.append(element("p", "quiet", "Log: ", element("code", "", isolated(files.join(", "))), `, sample ${item.id}`));
  if (viewer) made.append(element("p", "quiet", "Inspect's viewer: ", element("code", "", isolated(viewer))));
  return made;
}

const blocks = new Map();
function repliesOf(item) {
  const number = Math.floor(item.number / perBlock);
  if (!byId(`replies-${number}`)) return Promise.resolve({});
  if (!blocks.has(number)) blocks.set(number, unpacked(`replies-${number}`));
  return blocks.get(number).then((held) => held[item.number % perBlock]);
}

function answer(item, answered) {
  const [number, answers, , status] = answered;
  const given = answers.map((each) => each ?? `(${status})`).join(", ");
  const summary = element("summary", item.choices.length ? "labels" : "", verdict(item.benchmark, answered),
    element("span", "system", isolated(systems[number].name)), element("span", "given", isolated(given)));
  const made = element("details", "", summary);
  made.addEventListener("toggle", async () => {
    if (made.open && made.childElementCount === 1) {
      made.append(element("div"));
      made.lastChild.replaceWith(replies(item, number, (await repliesOf(item))[number]));
    }
  });
  return made;
}

function card(item) {
  const told = [item.cluster.length > 40 || !item.cluster ? "" : `cluster ${item.cluster}`, ...item.groups,
    `disagreement ${shortened(item.disagreement)}`, `difficulty ${shortened(item.difficulty)}`, item.id];
  const header = element("header", "", element("h3", "", benchmarks[item.benchmark].name),
    ...told.filter(Boolean).map((words) => element("span", "", isolated(words))));
  const shown = pictures(item);
  const answers = element("div", "answers", ...item.answers.map((answered) => answer(item, answered)));
  const body = element("div", shown ? "body with-pictures" : "body", shown, element("div", "", facts(item), choices(item), answers));
  return element("article", "item", header, body);
}

// ---- pages ------------------------------------------------------------------------------------

function show() {
  const last = Math.max(0, Math.ceil(found.length / PER_PAGE) - 1);
  page = Math.min(Math.max(page, 0), last);
  byId("list").replaceChildren(...found.slice(page * PER_PAGE, (page + 1) * PER_PAGE).map(card));
  byId("found").textContent = `${found.length.toLocaleString("en")} of ${items.length.toLocaleString("en")} items`;
  for (const pages of document.querySelectorAll(".pages")) {
    pages.querySelector("span").textContent = `Page ${page + 1} of ${last + 1}`;
    pages.querySelector(".back").disabled = page === 0;
    pages.querySelector(".on").disabled = page === last;
  }
}

function turn(by) {
  page += by;
  show();
  byId("gallery").scrollIntoView();
}

offer(byId("benchmark"), "all", benchmarks.map(({ name, title }, number) => [number, `${name}: ${title}`]));
offerChoices();
byId("benchmark").addEventListener("change", () => { offerChoices(); choose(); });
for (const id of ["category", "system", "outcome", "order"]) byId(id).addEventListener("change", choose);
let waiting = 0;
byId("search").addEventListener("input", () => { clearTimeout(waiting); waiting = setTimeout(choose, 150); });
document.querySelectorAll(".pages .back").forEach((button) => button.addEventListener("click", () => turn(-1)));
document.querySelectorAll(".pages .on").forEach((button) => button.addEventListener("click", () => turn(1)));
choose();
document.documentElement.dataset.gallery = "shown";
