// The stream of all pages of a browser, in a worker that they share.

import { Stream } from "./stream.js";

const stream = new Stream();

self.onconnect = ({ ports: [port] }) => {
  const hear = (news) => port.postMessage(news);
  port.onmessage = ({ data: { run, leave } }) => {
    if (leave) stream.leave(run, hear);
    else stream.follow(run, hear);
  };
};
