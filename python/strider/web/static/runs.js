// The list of runs follows the search while it is typed; without this script the button does it.

import { ask } from "./ask.js";

const TYPING_MS = 200;
const field = document.getElementById("q");
let timer;
let latest = 0;

async function search() {
  const number = (latest += 1);
  const address = `/runs?${new URLSearchParams(field.value ? { q: field.value } : {})}`;
  const response = await fetch(address, { credentials: "same-origin" });
  if (!response.ok) return;
  const page = new DOMParser().parseFromString(await response.text(), "text/html");
  if (number !== latest) return;
  document.getElementById("found").replaceChildren(...page.getElementById("found").childNodes);
  choose();
  history.replaceState(null, "", address);
}

// Of the runs that are shown, two can be compared.
function choose() {
  const chosen = document.querySelectorAll("input[name=run]:checked").length;
  const button = document.getElementById("compare");
  if (!button) return;
  button.disabled = chosen !== 2;
  document.getElementById("removal").hidden = !chosen;
  document.getElementById("chosen").textContent = chosen === 2 ? "the older one is the base" : `choose two (${chosen} chosen); the older one is the base`;
}

// Asked twice: the button is shown when the runs are chosen and the line above it is opened.
async function remove(button) {
  button.disabled = true;
  const stays = [];
  try {
    for (const box of document.querySelectorAll("input[name=run]:checked")) {
      const answer = await ask(`/api/runs/${encodeURIComponent(box.value)}/delete`, {});
      stays.push(...answer.stays);
    }
    document.getElementById("stays").textContent = stays.join(" ");
    await search();
  } catch (error) {
    document.getElementById("removal-note").textContent = error.message;
    button.disabled = false;
  }
}

document.getElementById("found").addEventListener("change", choose);
document.getElementById("found").addEventListener("click", ({ target }) => { if (target.id === "delete") remove(target); });
choose();

field.addEventListener("input", () => {
  clearTimeout(timer);
  timer = setTimeout(search, TYPING_MS);
});
