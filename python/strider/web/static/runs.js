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
  history.replaceState(null, "", address);
}

field.addEventListener("input", () => {
  clearTimeout(timer);
  timer = setTimeout(search, TYPING_MS);
});
