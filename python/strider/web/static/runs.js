// The list of runs follows the search while it is typed; without this script the button does it.

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
  document.getElementById("chosen").textContent = chosen === 2 ? "the older one is the base" : `choose two (${chosen} chosen); the older one is the base`;
}

document.getElementById("found").addEventListener("change", choose);
choose();

field.addEventListener("input", () => {
  clearTimeout(timer);
  timer = setTimeout(search, TYPING_MS);
});
