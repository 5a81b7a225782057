// A job until it has a run: then that is shown instead.

import { ask } from "./ask.js";
import { byId } from "./dom.js";

const POLL_MS = 700;
const OPEN = ["waiting", "running", "unknown"];

const job = byId("job");

async function look() {
  try {
    const { state, run } = await ask(`/api/jobs/${encodeURIComponent(job.dataset.job)}`);
    if (run) location.replace(`/runs/${encodeURIComponent(run)}`);
    else if (state !== job.dataset.state) location.reload();
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
