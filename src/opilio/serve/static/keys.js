// Keys: / searches, j k o walk through a list, y n s label, g and a digit changes tabs.
"use strict";

let going = false;

function entries() {
  return [...document.querySelectorAll("[data-entry]")];
}

function step(by) {
  const all = entries();
  if (!all.length) return;
  const place = all.indexOf(document.activeElement);
  const next = all[Math.min(Math.max(place + by, 0), all.length - 1)];
  next.focus();
  next.scrollIntoView({ block: "nearest" });
}

function press(selector) {
  const button = document.querySelector(selector);
  if (button) button.click();
}

const actions = {
  "/": () => document.querySelector("[data-key='/']")?.select(),
  "?": () => document.getElementById("keys").showModal(),
  j: () => step(1),
  k: () => step(-1),
  o: () => document.activeElement.matches?.("[data-entry]") && document.activeElement.click(),
  y: () => press(".labels .yes"),
  n: () => press(".labels .no"),
  s: () => press(".labels .later"),
};

document.addEventListener("keydown", (event) => {
  const typing = event.target.matches("input, textarea, select");
  if (typing || event.ctrlKey || event.metaKey || event.altKey) return;
  if (document.querySelector("dialog[open]") && event.key !== "?") return;
  if (going && /^[1-9]$/.test(event.key)) {
    going = false;
    document.querySelectorAll(".tabs a")[Number(event.key) - 1]?.click();
    return;
  }
  going = event.key === "g";
  if (actions[event.key]) {
    event.preventDefault();
    actions[event.key]();
  }
});

// On a narrow screen the tabs scroll: show the one that is open.
const tab = document.querySelector(".tabs [aria-current]");
if (tab) tab.parentElement.scrollLeft = tab.offsetLeft - tab.parentElement.clientWidth / 2;

for (const button of document.querySelectorAll("[data-open]")) {
  button.addEventListener("click", () =>
    document.getElementById(button.dataset.open).showModal());
}
