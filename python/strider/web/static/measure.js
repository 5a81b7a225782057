// The first page: the card of a directory in one click, and workloads with pictures of their pattern.

import { ask } from "./ask.js";
import { byId, el } from "./dom.js";
import { thumbnail } from "./picture.js";

byId("card").addEventListener("submit", async (event) => {
  event.preventDefault();
  const button = byId("measure");
  button.disabled = true;
  byId("card-note").textContent = "";
  try {
    const { job } = await ask("/api/cards", { directory: byId("directory").value.trim(), budget: byId("budget").value });
    location.assign(`/jobs/${job}`);
  } catch (error) {
    byId("card-note").textContent = error.message;
    button.disabled = false;
  }
});

try {
  const workloads = await ask("/api/gallery");
  byId("gallery").replaceChildren(...workloads.map(({ name, title, about, picture }) =>
    el("li", {}, el("a", { href: `/configure?workload=${name}` }, thumbnail(picture), el("strong", {}, title), el("span", { class: "quiet" }, about)))));
} catch (error) {
  byId("gallery").replaceChildren(el("li", { class: "message error" }, error.message));
}
