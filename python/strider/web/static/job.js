// A job until it has a run: then that is shown instead. A verification shows its own progress and its result.

import { ask } from "./ask.js";
import { byId } from "./dom.js";
import { follow } from "./follow.js";
import { bytes } from "./units.js";

const POLL_MS = 700;
const OPEN = ["waiting", "running", "unknown"];

const job = byId("job");
let followed = "";

function progress(news) {
  if (!news.new || !news.phases) return;
  const bar = byId("progress");
  bar.hidden = false;
  bar.value = news.fraction;
  const { current } = news;
  const parts = [`Reading and comparing: ${Math.round(100 * news.fraction)} %`];
  if (news.phases > 1) parts.push(`${news.samples} of ${news.phases} groups of files`);
  if (current && current.bytes_total) parts.push(`${bytes(current.bytes_done)} of ${bytes(current.bytes_total)}${news.phases > 1 ? ` of group ${current.case}` : ""}`);
  job.textContent = news.ended ? "All files were read …" : parts.join(", ");
}

async function look() {
  try {
    const { state, reason = "", run } = await ask(`/api/jobs/${encodeURIComponent(job.dataset.job)}`);
    const stays = "stays" in job.dataset;
    if (run && stays && run !== followed) {
      followed = run;
      follow(run, progress);
    }
    if (run && !stays) location.replace(`/runs/${encodeURIComponent(run)}`);
    else if (state !== job.dataset.state || reason !== job.dataset.reason) location.reload();
    else setTimeout(look, POLL_MS);
  } catch (error) {
    job.textContent = error.message;
  }
}

byId("cancel")?.addEventListener("click", async ({ target }) => {
  target.disabled = true;
  try {
    await ask(`/api/jobs/${encodeURIComponent(job.dataset.job)}/cancel`, {});
  } catch (error) {
    job.textContent = error.message;
  }
});

if (OPEN.includes(job.dataset.state)) setTimeout(look, POLL_MS);
