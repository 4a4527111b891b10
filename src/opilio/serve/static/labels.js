// Sends one label after another without leaving the page.
"use strict";

const queue = document.getElementById("queue");
const said = document.getElementById("said");

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

async function label(card, word) {
  const { base, token } = document.body.dataset;
  const answer = await fetch(`/api/v1${base}/tell`, {
    method: "POST",
    headers: { "content-type": "application/json", "x-form-token": token },
    body: JSON.stringify({ verb: "label", words: [card.dataset.url, word] }),
  });
  const told = await answer.json();
  const waits = told.state === "waiting" ? "kept until the crawl goes on" : told.outcome;
  said.textContent = answer.ok ? `Label ${word}: ${waits}.` : told.error;
}

queue.addEventListener("click", (event) => {
  const button = event.target.closest("[data-label]");
  if (!button) return;
  const card = button.closest(".tolabel");
  next(card);
  if (button.dataset.label) label(card, button.dataset.label);
});
