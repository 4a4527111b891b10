// Zooms and moves the map of hosts, and writes names where there is room for them.
"use strict";

const SIZE = 13; // of letters, in pixels, however far one zooms
const UP = 11, DOWN = 4; // how far letters reach above and below their line
const LARGE = 8; // circles whose names may cover circles
const map = document.getElementById("map");
const whole = map ? map.getAttribute("viewBox").split(" ").map(Number) : [];
let box = [...whole];
let hosts = [];
let scale = 1; // pixels per unit of the map

function show() {
  map.setAttribute("viewBox", box.join(" "));
  const area = map.getBoundingClientRect();
  scale = Math.min(area.width / box[2], area.height / box[3]);
  const names = map.querySelector(".mapnames");
  names.setAttribute("font-size", SIZE / scale);
  names.setAttribute("stroke-width", 3 / scale);
  writeNames([box[0] + box[2] / 2, box[1] + box[3] / 2], area);
}

// The places that a name can have: below, above or beside its circle; the names of the
// largest may be on theirs.
function places({ x, y, radius, width, large }) {
  const aside = radius + 5 + width / 2;
  const beside = [
    [x, y + radius + UP + 3],
    [x, y - radius - DOWN - 3],
    [x + aside, y + DOWN],
    [x - aside, y + DOWN],
  ];
  const fits = width < 2 * radius;
  return fits ? [[x, y + DOWN], ...beside] : large ? [...beside, [x, y + DOWN]] : beside;
}

function coversCircle([left, top, right, bottom], host) {
  const dx = Math.min(Math.max(host.x, left), right) - host.x;
  const dy = Math.min(Math.max(host.y, top), bottom) - host.y;
  return dx * dx + dy * dy < host.radius * host.radius;
}

function overlap(a, b) {
  return a[0] < b[2] && b[0] < a[2] && a[1] < b[3] && b[1] < a[3];
}

function writeNames(middle, area) {
  const seen = hosts.map((host, place) => ({
    ...host,
    large: place < LARGE,
    x: (host.x - middle[0]) * scale + area.width / 2,
    y: (host.y - middle[1]) * scale + area.height / 2,
    radius: host.radius * scale,
  })).filter((host) => {
    host.text.setAttribute("visibility", "hidden");
    return host.x + host.radius > 0 && host.x - host.radius < area.width
      && host.y + host.radius > 0 && host.y - host.radius < area.height;
  });
  const written = [];
  for (const host of seen) {
    for (const [x, y] of places(host)) {
      const at = [x - host.width / 2, y - UP, x + host.width / 2, y + DOWN];
      const outside = at[0] < 0 || at[1] < 0 || at[2] > area.width || at[3] > area.height;
      const inside = x === host.x && y === host.y + DOWN; // on its own circle
      if (outside || written.some((other) => overlap(at, other))) continue;
      if (!inside && seen.some((other) => coversCircle(at, other))) continue;
      written.push(at);
      host.text.setAttribute("x", (x - area.width / 2) / scale + middle[0]);
      host.text.setAttribute("y", (y - area.height / 2) / scale + middle[1]);
      host.text.setAttribute("visibility", "visible");
      break;
    }
  }
}

function zoom(factor, x = 0.5, y = 0.5) {
  if (!factor) {
    box = [...whole];
  } else if (box[2] * factor < whole[2] * 2 && box[2] * factor > 40) {
    box = [
      box[0] + box[2] * (1 - factor) * x,
      box[1] + box[3] * (1 - factor) * y,
      box[2] * factor,
      box[3] * factor,
    ];
  }
  show();
}

if (map) {
  const circles = [...map.querySelectorAll("circle")];
  hosts = [...map.querySelectorAll(".mapnames text")].map((text, place) => ({
    text,
    x: Number(circles[place].getAttribute("cx")),
    y: Number(circles[place].getAttribute("cy")),
    radius: Number(circles[place].getAttribute("r")),
    width: 0.6 * SIZE * text.textContent.length,
  }));
  const { width, height } = map.getBoundingClientRect();
  const narrow = (width / box[2]) / (height / box[3]); // a phone begins with the middle
  zoom(Math.min(1, Math.max(0.45, narrow)));
  window.addEventListener("resize", show);
  let last = null;
  let moved = 0;
  map.addEventListener("wheel", (event) => {
    event.preventDefault();
    const area = map.getBoundingClientRect();
    const x = 0.5 + (event.clientX - area.left - area.width / 2) / scale / box[2];
    const y = 0.5 + (event.clientY - area.top - area.height / 2) / scale / box[3];
    zoom(event.deltaY > 0 ? 1.12 : 0.89, x, y);
  }, { passive: false });
  map.addEventListener("pointerdown", (event) => { last = event; moved = 0; });
  window.addEventListener("pointerup", () => { last = null; });
  map.addEventListener("pointermove", (event) => {
    if (!last) return;
    box[0] -= (event.clientX - last.clientX) / scale;
    box[1] -= (event.clientY - last.clientY) / scale;
    moved += Math.abs(event.clientX - last.clientX) + Math.abs(event.clientY - last.clientY);
    last = event;
    show();
  });
  map.addEventListener("click", (event) => { if (moved > 6) event.preventDefault(); }, true);
  map.addEventListener("dragstart", (event) => event.preventDefault());
  for (const button of document.querySelectorAll("[data-zoom]")) {
    button.addEventListener("click", () => zoom(Number(button.dataset.zoom)));
  }
}
