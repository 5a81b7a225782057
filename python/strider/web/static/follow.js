// Follows a run: through the worker that all pages share, else by a stream of this page's own.

import { Stream } from "./stream.js";

export function follow(run, hear) {
  let own = null;
  const byItself = () => {
    if (own) return;
    own = new Stream();
    own.follow(run, hear);
    addEventListener("pagehide", () => own.leave(run, hear));
    addEventListener("pageshow", (event) => { if (event.persisted) own.follow(run, hear); });
  };
  if (!globalThis.SharedWorker) return byItself();
  let worker;
  try {
    worker = new SharedWorker("/static/shared.js", { type: "module", name: "strider" });
  } catch {
    return byItself();
  }
  worker.onerror = byItself;
  worker.port.onmessage = ({ data }) => hear(data);
  worker.port.postMessage({ run });
  addEventListener("pagehide", () => worker.port.postMessage({ run, leave: true }));
  addEventListener("pageshow", (event) => { if (event.persisted) worker.port.postMessage({ run }); });
  return undefined;
}
