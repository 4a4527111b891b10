// Sends one label after another without leaving the page.
"use strict";

const queue = document.getElementById("queue");
const said = document.getElementById("said");
const { base, token } = document.body.dataset;

function next(card) {
  card.hidden = true;
  card.classList.remove("labels");
  let other = card.nextElementSibling;
  while (other && !other.matches(".tolabel")) other = other.nextElementSibling;
  if (other) {
    other.hidden = false;
    other.classList.add("labels");
  } else {
    document.getElementById("done").hidden = false;
  }
}

async function showEffect() {
  const answer = await fetch(`/api/v1${base}/labels`);
  if (!answer.ok) return;
  const { effect, labels } = await answer.json();
  document.getElementById("count").textContent = labels.toLocaleString("en");
  if (!effect) return;
  const texts = {
    before: `${effect.right_without} of ${effect.labels}`,
    error_before: effect.error_without.toFixed(2),
    now: `${effect.right} of ${effect.labels}`,
    error: effect.error.toFixed(2),
  };
  for (const node of document.querySelectorAll("[data-effect]")) {
    node.textContent = texts[node.dataset.effect];
  }
  document.getElementById("effect").hidden = false;
  document.getElementById("noeffect")?.remove();
}

async function label(card, word) {
  const words = [card.dataset.url, word];
  if (card.dataset.check) words.push("check");
  const answer = await fetch(`/api/v1${base}/tell`, {
    method: "POST",
    headers: { "content-type": "application/json", "x-form-token": token },
    body: JSON.stringify({ verb: "label", words }),
  });
  const told = await answer.json();
  const waits = told.state === "waiting" ? "kept until the crawl runs" : told.outcome;
  const title = card.querySelector("h2").textContent.trim().slice(0, 60);
  said.textContent = answer.ok ? `${title}: ${waits}.` : told.error;
  if (told.state === "done") await showEffect();
}

queue.addEventListener("click", (event) => {
  const button = event.target.closest("[data-label]");
  if (!button) return;
  const card = button.closest(".tolabel");
  next(card);
  if (button.dataset.label) label(card, button.dataset.label);
});
