// Questions to the server; what goes wrong is an Error with a message for people.

const DEADLINE_MS = 60000;

export async function ask(address, body) {
  const options = { signal: AbortSignal.timeout(DEADLINE_MS), credentials: "same-origin" };
  if (body !== undefined) {
    Object.assign(options, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(body),
    });
  }
  let response;
  try {
    response = await fetch(address, options);
  } catch {
    throw new Error("The server does not answer: is strider serve still running?");
  }
  const text = await response.text();
  let answer;
  try {
    answer = JSON.parse(text);
  } catch {
    throw new Error(text.slice(0, 500) || `The server answered ${response.status}.`);
  }
  if (!response.ok) throw new Error(answer.message || `The server answered ${response.status}.`);
  return answer;
}
