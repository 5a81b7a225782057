// The data sets of a directory: those that are chosen are verified in the queue of runs, or removed.

import { ask } from "./ask.js";
import { byId } from "./dom.js";

const form = byId("sets");

function chosen() {
  return [...document.querySelectorAll("input[name=set]:checked")];
}

function choose() {
  const count = chosen().length;
  byId("verify").disabled = !count;
  byId("removal").hidden = !count;
  byId("chosen").textContent = count ? `${count} chosen` : "choose data sets";
}

function order(box) {
  return { directory: form.dataset.directory, name: box.value };
}

function say(texts) {
  byId("data-note").textContent = texts.join(" ");
}

async function verify(button) {
  button.disabled = true;
  try {
    const jobs = [];
    for (const box of chosen()) jobs.push((await ask("/api/data/verify", order(box))).job);
    if (jobs.length === 1) location.assign(`/jobs/${jobs[0]}`);
    else location.reload();
  } catch (error) {
    say([error.message]);
    button.disabled = false;
  }
}

async function remove(button) {
  button.disabled = true;
  const done = [];
  try {
    for (const box of chosen()) {
      const { files, is_tree: isTree, kept } = await ask("/api/data/remove", order(box));
      const what = isTree ? "entries" : files === 1 ? "file" : "files";
      done.push(`Data set ${box.value}: ${files} ${what} removed.`, ...kept.map((line) => `Not removed: ${line}.`));
      if (kept.length) box.checked = false;
      else box.closest("tr").remove();
    }
    byId("removal").open = false;
  } catch (error) {
    done.push(error.message);
  }
  say(done);
  button.disabled = false;
  choose();
}

if (form) {
  form.addEventListener("submit", (event) => event.preventDefault());
  form.addEventListener("change", choose);
  byId("verify").addEventListener("click", ({ target }) => verify(target));
  byId("remove").addEventListener("click", ({ target }) => remove(target));
  choose();
}
