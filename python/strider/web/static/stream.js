// One stream of events for all runs that are followed: subscribers get the messages of theirs.

import { ask } from "./ask.js";

export class Stream {
  constructor() {
    this.subscribers = new Map(); // run -> set of functions
    this.name = null;
  }

  // Each subscriber of a run hears it from its beginning, as the one that came last has heard nothing yet.
  follow(run, hear) {
    if (!this.subscribers.has(run)) this.subscribers.set(run, new Set());
    this.subscribers.get(run).add(hear);
    if (!this.source) this.open();
    else if (this.name) this.say({ run });
  }

  leave(run, hear) {
    const hearing = this.subscribers.get(run);
    if (!hearing?.delete(hear) || hearing.size) return;
    this.subscribers.delete(run);
    if (!this.subscribers.size) this.close();
    else if (this.name) this.say({ run, leave: true });
  }

  open() {
    this.source = new EventSource("/stream");
    // Also after a connection was lost: the server knows nothing of the stream before.
    this.source.addEventListener("stream", (event) => {
      this.name = JSON.parse(event.data);
      for (const run of this.subscribers.keys()) this.say({ run });
    });
    this.source.onmessage = (event) => {
      const { run, ...news } = JSON.parse(event.data);
      this.tell(run, news);
    };
    this.source.onerror = () => {
      const lost = this.source.readyState === EventSource.CLOSED ? "closed" : "again";
      this.name = null;
      if (lost === "closed") this.close();
      for (const run of [...this.subscribers.keys()]) this.tell(run, { lost });
    };
  }

  close() {
    this.source?.close();
    this.source = this.name = null;
  }

  tell(run, news) {
    for (const hear of this.subscribers.get(run) ?? []) hear(news);
  }

  async say(what) {
    try {
      await ask(`/api/streams/${this.name}`, what);
    } catch (error) {
      this.tell(what.run, { damaged: error.message });
    }
  }
}
