// Puts the figures of a running crawl in place as they arrive. All of them are text.
"use strict";

const head = document.querySelector("[data-events]");
const lost = document.getElementById("lost");
let curve = { pages: [], overall: [], recent: [] };

function clone(name) {
  return document.getElementById(name).content.firstElementChild.cloneNode(true);
}

function fillMeter(node, width) {
  node.querySelector(".fill").setAttribute("width", width);
}

const makers = {
  newest(page) {
    const item = clone("newest");
    const link = item.querySelector("a");
    link.querySelector("bdi").textContent = page.title || page.url;
    link.href = `${document.body.dataset.base}/page?url=${encodeURIComponent(page.url)}`;
    item.querySelector(".meta > span").textContent = page.host;
    fillMeter(item, (34 * page.score).toFixed(1));
    item.querySelector(".score span").textContent = page.score.toFixed(2);
    return item;
  },
  outcomes(row) {
    const item = clone("outcomes");
    item.className = row.state;
    item.querySelector("svg").classList.add(row.state);
    item.querySelector("a").href = `${document.body.dataset.base}/links?state=${row.state}`;
    item.querySelector("a span").textContent = row.words;
    item.querySelector("a b").textContent = row.links;
    fillMeter(item, row.width);
    const reasons = item.querySelector(".reasons");
    for (const reason of row.reasons.slice(0, 4)) {
      const line = document.createElement("li");
      const words = document.createElement("span");
      const links = document.createElement("b");
      words.textContent = reason.words;
      links.textContent = reason.links;
      line.append(words, links);
      reasons.append(line);
    }
    return item;
  },
  promises(row) {
    const item = clone("promises");
    item.querySelector("span").textContent = row.words;
    item.querySelector("b").textContent = row.links;
    fillMeter(item, row.width);
    return item;
  },
  hosts(host) {
    const item = clone("hosts");
    item.querySelector(".dot").classList.add(host.state);
    item.querySelector("b").textContent = host.host;
    item.querySelector(".note").textContent = `${host.state}: ${host.words}`;
    return item;
  },
};

function nothing(list) {
  const item = document.createElement("li");
  item.className = "empty";
  item.textContent = list.dataset.empty;
  return item;
}

function show(live) {
  for (const node of document.querySelectorAll("[data-text]")) {
    node.textContent = live.text[node.dataset.text];
  }
  for (const node of document.querySelectorAll("[data-path]")) {
    node.setAttribute("d", live.paths[node.dataset.path]);
  }
  const state = document.querySelector("[data-state]");
  state.textContent = live.state;
  state.className = `state ${live.state}`;
  const shown = live.state === "new" ? "stopped" : live.state;
  for (const node of document.querySelectorAll("[data-when]")) {
    const unneeded = "emptyOnly" in node.dataset && live.promises.length;
    node.hidden = node.dataset.when !== shown || Boolean(unneeded);
  }
  for (const [name, make] of Object.entries(makers)) {
    const list = document.querySelector(`[data-list=${name}]`);
    const has = list.contains(document.activeElement);
    const items = live[name].length ? live[name].map(make) : [nothing(list)];
    if (!has) list.replaceChildren(...items);
  }
  const ticks = document.querySelector(".ticks");
  ticks.replaceChildren(...live.ticks.map((tick) => {
    const text = document.createElementNS("http://www.w3.org/2000/svg", "text");
    text.setAttribute("x", tick.x);
    text.setAttribute("y", 254);
    text.setAttribute("text-anchor", "middle");
    text.textContent = tick.text;
    return text;
  }));
  curve = live.curve;
  head.dataset.version = live.version;
}

function readOut(event) {
  const plot = document.getElementById("plot");
  const box = plot.getBoundingClientRect();
  const last = curve.pages.at(-1);
  if (!last) return;
  const x = ((event.clientX - box.left) / box.width) * 720;
  const page = ((x - 40) / 672) * last;
  let best = 0;
  curve.pages.forEach((one, place) => {
    if (Math.abs(one - page) < Math.abs(curve.pages[best] - page)) best = place;
  });
  const at = 40 + (672 * curve.pages[best]) / last;
  const cursor = plot.querySelector(".cursor");
  cursor.removeAttribute("visibility");
  cursor.setAttribute("x1", at);
  cursor.setAttribute("x2", at);
  const percent = (rate) => `${(100 * rate).toFixed(1)} %`;
  document.getElementById("readout").textContent =
    `after ${curve.pages[best].toLocaleString("en")} pages: ${percent(curve.overall[best])} of all, ` +
    `${percent(curve.recent[best])} of the last 100`;
}

// A browser opens at most six connections to a server, so tabs that nobody sees let
// theirs go.
let events = null;

function follow() {
  if (document.hidden) {
    events?.close();
    events = null;
  } else if (!events) {
    events = new EventSource(head.dataset.events);
    events.onmessage = (event) => show(JSON.parse(event.data));
    events.onopen = () => { lost.hidden = true; };
    events.onerror = () => lose(events.readyState === EventSource.CLOSED);
  }
}

// What is shown is old from now on: the server does not answer, or refuses.
function lose(refused) {
  lost.hidden = false;
  lost.textContent = refused
    ? "These figures are old: the crawl is gone, or you have to log in again. Reload the page."
    : "These figures are old: the server does not answer. They go on when it does.";
}

if (head) {
  follow();
  document.addEventListener("visibilitychange", follow);
  document.getElementById("plot").addEventListener("pointermove", readOut);
}
