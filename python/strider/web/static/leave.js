// The button that ends this session.

import { ask } from "./ask.js";
import { byId } from "./dom.js";

byId("leave").addEventListener("click", async ({ target }) => {
  target.disabled = true;
  try {
    await ask("/api/leave", {});
    document.body.replaceChildren("You are logged out. To come back, open the address that strider serve printed last.");
  } catch (error) {
    target.disabled = false;
    target.textContent = error.message;
  }
});
