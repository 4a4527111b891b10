// Zooms and moves the map of hosts: wheel or buttons, and dragging.
"use strict";

const map = document.getElementById("map");
const whole = map ? map.getAttribute("viewBox").split(" ").map(Number) : [];
let box = [...whole];

function show() {
  map.setAttribute("viewBox", box.join(" "));
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
  let last = null;
  let moved = 0;
  map.addEventListener("wheel", (event) => {
    event.preventDefault();
    const area = map.getBoundingClientRect();
    const x = (event.clientX - area.left) / area.width;
    const y = (event.clientY - area.top) / area.height;
    zoom(event.deltaY > 0 ? 1.12 : 0.89, x, y);
  }, { passive: false });
  map.addEventListener("pointerdown", (event) => { last = event; moved = 0; });
  window.addEventListener("pointerup", () => { last = null; });
  map.addEventListener("pointermove", (event) => {
    if (!last) return;
    const scale = box[2] / map.getBoundingClientRect().width;
    box[0] -= (event.clientX - last.clientX) * scale;
    box[1] -= (event.clientY - last.clientY) * scale;
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
